"""The host's memory at an address, as arrays and as bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray


class _Bytes:
    """The array interface of memory of the host, which the caller keeps alive."""

    __slots__ = ("__array_interface__",)

    def __init__(self, address: int, nbytes: int) -> None:
        self.__array_interface__ = {
            "data": (address, False), "shape": (nbytes,), "typestr": "|u1", "version": 3,
        }  # fmt: skip


def host_array(address: int, nbytes: int) -> NDArray[Any]:
    """Bytes of the host's memory as an array; the caller keeps them alive."""
    import numpy

    return numpy.asarray(_Bytes(address, nbytes))


def host_bytes(address: int, nbytes: int) -> memoryview:
    """Bytes of the host's memory; the caller keeps them alive."""
    return host_array(address, nbytes).data
