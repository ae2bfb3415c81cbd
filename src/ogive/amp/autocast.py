"""`autocast`: a part of a program whose products are computed in a smaller dtype."""

from __future__ import annotations

from contextlib import ContextDecorator
from typing import Any

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType, to_dtype
from ogive.errors import DtypeError
from ogive.tensor import autocast_dtypes
from ogive.tensor.core import to_device

LOW = (dtypes.bfloat16, dtypes.float16)


class autocast(ContextDecorator):
    """Compute products in `dtype` inside, and losses in float32, by PyTorch's rules for the CPU.

    In `dtype` run products of matrices, convolutions, attention and `prelu`: their operands of
    float32 are cast. Losses, linear algebra, transforms and a few others run in float32 whatever
    they are given. All the rest computes in the dtypes it gets, and float64 is never cast.
    Gradients have the dtype of what they are for.

    It is a context for the thread that enters it, and a decorator. Contexts nest, and
    `enabled=False` is one without casts. A captured function is traced once for each dtype that it
    is called under. `cache_enabled` means nothing: a cast that is used twice is one node.

    >>> layer = nn.Linear(3, 2)
    >>> with ogive.autocast(dtype=ogive.bfloat16):
    ...     y = layer(ogive.ones(4, 3))
    ...     loss = y.mse_loss(ogive.zeros(4, 2))
    >>> y.dtype, loss.dtype
    (ogive.bfloat16, ogive.float32)
    >>> loss.backward()
    >>> layer.weight.grad.dtype
    ogive.float32

    Raises `DtypeError` for other dtypes than bfloat16 and float16, `DeviceError` for another
    device than the CPU.
    """

    def __init__(
        self,
        device_type: str = "cpu",
        dtype: Any = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        to_device(device_type)
        wanted = dtypes.bfloat16 if dtype is None else to_dtype(dtype)
        if wanted not in LOW:
            raise DtypeError(
                f"autocast computes in bfloat16 or float16, not in {wanted.name}; without it, "
                "everything is computed in the dtypes that are given"
            )
        self._dtype = wanted if enabled else None

    def __enter__(self) -> autocast:
        autocast_dtypes.enter(self._dtype)
        return self

    def __exit__(self, *_: Any) -> None:
        autocast_dtypes.leave()


def is_autocast_enabled(device_type: str = "cpu") -> bool:
    """Whether this thread is inside of an `autocast`.

    >>> with ogive.autocast():
    ...     print(ogive.is_autocast_enabled())
    True
    """
    to_device(device_type)
    return autocast_dtypes.current() is not None


def get_autocast_dtype(device_type: str = "cpu") -> DType:
    """The dtype that `autocast` computes in here, or would by itself.

    >>> ogive.get_autocast_dtype("cpu")
    ogive.bfloat16
    """
    to_device(device_type)
    return autocast_dtypes.current() or dtypes.bfloat16
