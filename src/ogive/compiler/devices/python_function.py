"""Python functions as steps of a plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from numpy.linalg import LinAlgError

from ogive.compiler.devices.handle import Handle
from ogive.compiler.ir.device_names import FUNCTIONS
from ogive.errors import DistributedError, ExecuteError, LinearAlgebraError, Origin

if TYPE_CHECKING:
    from numpy.typing import NDArray


class PythonFunction(Handle):
    """A callable that fills arrays from arrays, and the line of the user's program that called it.

    A `batched` one accepts any further axes before those that it was made for.
    """

    __slots__ = ("batched", "function", "name", "origin")

    def __init__(
        self, function: Callable[..., Any], name: str, origin: Origin | None, batched: bool = False
    ) -> None:
        super().__init__(0, FUNCTIONS)
        self.batched = batched
        self.function = function
        self.name = name
        self.origin = origin

    def call(self, reads: Sequence[NDArray[Any]], writes: Sequence[NDArray[Any]]) -> None:
        """Call it. Its exceptions become `ExecuteError` or `LinearAlgebraError`."""
        expected = [(array.shape, array.dtype) for array in writes]
        try:
            returned = self.function(*reads, *writes)
        except LinAlgError as error:
            raise LinearAlgebraError(f"{self.name}: {error}", self.origin) from error
        except DistributedError:
            raise
        except Exception as error:
            raise ExecuteError(
                f"the custom function {self.name!r} raised {type(error).__name__}: {error}",
                self.origin,
            ) from error
        if returned is not None:
            raise ExecuteError(
                f"the custom function {self.name!r} returned {type(returned).__name__}; it is to "
                "fill its outputs, which are its last arguments, and return None",
                self.origin,
            )
        for number, (array, (shape, dtype)) in enumerate(zip(writes, expected, strict=True)):
            if array.shape != shape or array.dtype != dtype:
                raise ExecuteError(
                    f"the custom function {self.name!r} made its output {number}, of shape {shape} "
                    f"and dtype {dtype}, one of shape {array.shape} and dtype {array.dtype}; it is "
                    "to fill it as it is (result[...] = values)",
                    self.origin,
                )

    def __repr__(self) -> str:
        return f"PythonFunction({self.name!r})"
