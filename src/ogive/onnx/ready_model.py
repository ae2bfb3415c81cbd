"""A model made ready to be walked: weights in memory, and what depends on them alone computed.

It is what `jit` asks about a model that an earlier process has captured: its digest, and tensors by
their names in the file. Only when nothing is known of it, the graph is built and made ready.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ogive.onnx.graph import Graph
from ogive.onnx.model_file import IN_FILE, ModelFile
from ogive.tensor.tensor import Tensor

if TYPE_CHECKING:
    from ogive.onnx.fold_constants import Folded


class ReadyModel:
    """The graph of a file as it runs, and the weights that are in memory.

    Nobody vouches for a model whose graph `is_shown`: it may have been changed since.
    """

    def __init__(self, file: ModelFile) -> None:
        self.is_shown = False
        self._file = file
        self._lock = threading.Lock()
        self._held: dict[str, Tensor] = {}
        self._folded: Folded | None = None

    @property
    def graph(self) -> Graph:
        """The graph without what depends on weights alone."""
        return self._fold().graph

    def _fold(self) -> Folded:
        with self._lock:
            if self._folded is None:
                from ogive.onnx.fold_constants import fold_constants  # recalled models do without

                file = self._file
                self._folded = fold_constants(file.graph, file.apart, self._held)
            return self._folded

    # What is asked of a function that is known

    @property
    def digest(self) -> bytes | None:
        """A digest of the model, but for the elements of its large weights."""
        is_open = self._folded is not None and not self._folded.is_closed
        return None if self.is_shown or is_open else self._file.digest

    def names(self) -> Mapping[int, str | None]:
        """Weights by the ids of their tensors; None for what follows from the digest."""
        return self._fold().names

    def tensors(self, names: Sequence[str]) -> list[Tensor] | None:
        """The weights of these names, in memory. To compute some from others takes the graph."""
        if not all(name.startswith(IN_FILE) for name in names):
            known = self._fold().tensors()
            is_there = all(name in known for name in names)
            return [known[name] for name in names] if is_there else None
        inside = [name.removeprefix(IN_FILE) for name in names]
        with self._lock:
            missing = [name for name in inside if name not in self._held]
            if any(name not in self._file.apart for name in missing):
                return None
            self._held.update(zip(missing, self._file.weights(missing), strict=True))
            return [self._held[name] for name in inside]

    def make_ready(self) -> None:
        """Compute what depends on weights alone, which no trace may do."""
        self._fold()
