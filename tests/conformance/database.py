"""PyTorch's database: its operators, and sample inputs for each."""

from __future__ import annotations

import importlib.util
import random
import sys
import types
import unittest
import warnings
from typing import Any

import numpy as np
import torch

DTYPES = ("float64", "float32", "int64", "bool", "complex128")


def _load() -> list[Any]:
    """The operators. `expecttest`, which their module asks for, is not needed for samples."""
    if importlib.util.find_spec("expecttest") is None:
        stand_in: Any = types.ModuleType("expecttest")
        stand_in.TestCase = unittest.TestCase
        sys.modules["expecttest"] = stand_in
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch.testing._internal import common_utils
        from torch.testing._internal.common_methods_invocations import op_db
        from torch.testing._internal.opinfo import core
    common_utils.set_rng_seed = seed_host
    # None of PyTorch's own tests is to be found on the stack, the sources of which it would read.
    common_utils.extract_test_fn = core.extract_test_fn = lambda: None
    return list(op_db)


def seed_host(seed: int = 1234) -> None:
    """Seed what samples on the host are drawn from.

    The database does so before each sample. `torch.manual_seed` would also note the call, with its
    stack, for each kind of device that may come to life later: that took half of the whole time.
    """
    torch.default_generator.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed)


def label(operator: Any) -> str:
    """The name, with what the entry is about where a name has several."""
    variant = operator.variant_test_name
    return f"{operator.name} ({variant})" if variant else str(operator.name)


OPERATORS: dict[str, Any] = {label(operator): operator for operator in _load()}


def samples(operator: Any, dtype: str, limit: int, with_gradients: bool = False) -> list[Any]:
    """At most `limit` sample inputs, evenly chosen; none for a dtype that PyTorch refuses."""
    kind = getattr(torch, dtype)
    if kind not in operator.dtypes:
        return []
    seed_host()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = list(operator.sample_inputs("cpu", kind, requires_grad=with_gradients))
    if len(found) <= limit:
        return found
    return [found[(2 * at + 1) * len(found) // (2 * limit)] for at in range(limit)]


def has_gradient(operator: Any, dtype: str) -> bool:
    """Whether PyTorch differentiates the operator in this dtype."""
    kind = getattr(torch, dtype)
    return bool(
        operator.supports_autograd and kind in operator.supported_backward_dtypes("cpu")
    )
