"""Run the same model in ONNX Runtime, if that is installed."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy

from ogive.errors import ExecuteError
from ogive.onnx.writing import with_outputs

Array = numpy.ndarray[Any, Any]


class Peer:
    """A model in a session of ONNX Runtime, with its fastest settings."""

    def __init__(self, path: str, threads: int, outputs: Sequence[str] = ()) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.intra_op_num_threads = threads or len(os.sched_getaffinity(0))
        options.log_severity_level = 3
        source: str | bytes = path
        if outputs:
            # Values inside fused operators could not be compared.
            options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
            folder = os.path.dirname(os.path.abspath(path))
            options.add_session_config_entry(
                "session.model_external_initializers_file_folder_path", folder
            )
            with open(path, "rb") as file:
                source = with_outputs(file.read(), outputs)
        try:
            self.session = onnxruntime.InferenceSession(
                source, options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # ONNX Runtime's errors have no class of their own
            raise ExecuteError(f"ONNX Runtime refuses the model: {error}") from None
        self.version: str = onnxruntime.__version__

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Any]:
        """The outputs by name."""
        names = [each.name for each in self.session.get_outputs()]
        return dict(zip(names, self.session.run(None, dict(inputs)), strict=True))


def is_installed() -> bool:
    """Whether ONNX Runtime is installed."""
    try:
        import onnxruntime
    except ImportError:
        return False
    return bool(onnxruntime.__version__)
