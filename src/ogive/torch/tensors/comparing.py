"""`torch.testing`: assertions that show where values differ."""

from __future__ import annotations

from typing import Any

import numpy

import ogive
from ogive.errors import ArgumentError
from ogive.tensor.tensor import Tensor

__all__ = [
    "assert_allclose", "assert_close",
]  # fmt: skip

TOLERANCES = {
    ogive.float16: (1e-3, 1e-5), ogive.bfloat16: (1.6e-2, 1e-5), ogive.float32: (1.3e-6, 1e-5),
    ogive.float64: (1e-7, 1e-7), ogive.complex64: (1.3e-6, 1e-5), ogive.complex128: (1e-7, 1e-7),
}  # fmt: skip
"""The default relative and absolute tolerance of each dtype: PyTorch's."""


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: Any = None,
) -> None:
    """Raise `AssertionError` unless two values, or nested sequences of them, are close enough.

    >>> ogive.torch.testing.assert_close(Tensor([1.0]), Tensor([1.0 + 1e-7]))
    """
    if (rtol is None) != (atol is None):
        raise ArgumentError("assert_close: give both rtol and atol, or neither")
    options: dict[str, Any] = {"equal_nan": equal_nan, "check_dtype": check_dtype, "msg": msg}
    if isinstance(expected, dict):
        assert actual.keys() == expected.keys(), msg or "the keys differ"
        for key in expected:
            assert_close(actual[key], expected[key], rtol=rtol, atol=atol, **options)
        return
    if isinstance(expected, list | tuple):
        assert len(actual) == len(expected), msg or "the lengths differ"
        for one, other in zip(actual, expected, strict=True):
            assert_close(one, other, rtol=rtol, atol=atol, **options)
        return
    one, other = (each if isinstance(each, Tensor) else Tensor(each) for each in (actual, expected))
    assert one.shape == other.shape, msg or f"the shapes differ: {one.shape} and {other.shape}"
    if check_dtype:
        assert one.dtype == other.dtype, msg or f"the dtypes differ: {one.dtype}, {other.dtype}"
    near = TOLERANCES.get(other.dtype, (0.0, 0.0))
    if rtol is not None and atol is not None:
        near = rtol, atol
    arrays = one.numpy(force=True), other.numpy(force=True)
    numpy.testing.assert_allclose(*arrays, *near, equal_nan, err_msg=str(msg or ""))


def assert_allclose(
    actual: Any, expected: Any, rtol: float | None = None, atol: float | None = None,
    equal_nan: bool = True, msg: Any = "",
) -> None:  # fmt: skip
    """The old form of `assert_close`, in which dtypes may differ."""
    options: dict[str, Any] = {"equal_nan": equal_nan, "check_dtype": False, "msg": msg or None}
    assert_close(actual, expected, rtol=rtol, atol=atol, **options)
