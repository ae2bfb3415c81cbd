"""Activations: methods of ours that PyTorch has in `torch.nn.functional`."""

from __future__ import annotations

from typing import Any

import torch.nn.functional as F

from tests.tensor.table.case import NUMBERS, Case

DTYPES = ("float16", "bfloat16", "float64")


def functional(name: str, *arguments: Any, **changes: Any) -> Case:
    """A method called with `arguments` in both libraries."""
    label = f"{name}{arguments or ''}"
    settings: dict[str, Any] = {"absolute": True, "domain": (-8.0, 8.0), "dtypes": DTYPES} | changes
    return Case(
        label,
        lambda x: getattr(x, name)(*arguments),
        lambda x: getattr(F, name)(x, *arguments),
        **settings,
    )


def _prelu(x: Any) -> Any:
    weight = x.reshape(-1)[:1].abs()
    return x.prelu(weight)


CASES = [
    functional("relu6", dtypes=NUMBERS), functional("hardtanh", -2, 1, dtypes=NUMBERS),
    functional("hardsigmoid"), functional("hardswish"), functional("leaky_relu", 0.1),
    functional("rrelu"), functional("elu", 0.7), functional("selu"), functional("celu", 0.7),
    functional("softplus", 2.0, 5.0),
    Case("logsigmoid", lambda x: x.logsigmoid(), F.logsigmoid, absolute=True),
    functional("mish", error=8),
    functional("softsign"), functional("tanhshrink"), functional("softshrink", 1.0),
    functional("hardshrink", 1.0), functional("threshold", 1, -2, dtypes=NUMBERS),
    Case("prelu", _prelu, _prelu, absolute=True, special=False),
    Case("glu", lambda x: x.pad(((0, 0),) * (x.ndim - 1) + ((0, x.shape[-1]),), value=1).glu(),
         lambda x: F.glu(F.pad(x, (0, x.shape[-1]), value=1)), absolute=True, special=False),
    functional("softmin", -1, error=32, special=False),
    functional("normalize", 2.0, 0, error=32, special=False),
    functional("normalize", 1.0, -1, error=32, special=False),
]  # fmt: skip
