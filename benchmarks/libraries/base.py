"""What a row may ask of a library, and what the runner asks of it."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from benchmarks.rows import Row

HostArray = NDArray[np.float32]
Function = Callable[..., Any]


class NotThere(Exception):
    """The library has no way to compute this row; the message says what is missing."""


class Operations:
    """The operations of the rows, in the method style that torch, tinygrad and Ogive share.

    A library overrides what it spells differently, or what its users would write better.
    """

    def exp(self, x: Any) -> Any:
        return x.exp()

    def sum(self, x: Any, axis: int | None = None) -> Any:
        return x.sum() if axis is None else x.sum(axis)

    def mean(self, x: Any) -> Any:
        return x.mean()

    def relu(self, x: Any) -> Any:
        return x.relu()

    def gelu(self, x: Any) -> Any:
        """The exact one, by erf: the tanh approximation would be another computation."""
        return x.gelu(approximate="none")

    def softmax(self, x: Any) -> Any:
        return x.softmax(-1)

    def log_softmax(self, x: Any) -> Any:
        return x.log_softmax(-1)

    def layer_norm(self, x: Any, weight: Any, bias: Any) -> Any:
        return x.layer_norm((x.shape[-1],), weight, bias)

    def permute(self, x: Any, axes: tuple[int, ...]) -> Any:
        return x.permute(*axes)

    def contiguous(self, x: Any) -> Any:
        return x.contiguous()

    def linear(self, x: Any, weight: Any, bias: Any) -> Any:
        """`x (rows, in) @ weight (in, out) + bias (out)`."""
        return x @ weight + bias

    def attention(self, query: Any, key: Any, value: Any) -> Any:
        """Softmax attention of `(heads, tokens, width)` each."""
        scale = 1.0 / math.sqrt(query.shape[-1])
        scores = (query @ self.permute(key, (0, 2, 1))) * scale
        return self.softmax(scores) @ value

    def convolve(self, x: Any, weight: Any) -> Any:
        """3×3 convolution of `(batch, in, height, width)` with a padding of one."""
        raise NotThere("no convolution")

    def gradient_step(
        self, loss: Function, parameters: Sequence[Any], rate: float
    ) -> tuple[Any, ...]:
        """`parameters - rate * gradient of loss(*parameters)`, as new tensors."""
        raise NotThere("no gradients")


@dataclass(frozen=True)
class Prepared:
    """A row made ready in one library.

    `call` computes it once and returns when the result is in memory; `fetch` gives the result.
    One call counts as `worth` of them (a limit is timed on another amount of work, and scaled).
    """

    call: Callable[[], object]
    fetch: Callable[[], list[HostArray]]
    worth: float = 1.0


class Library(ABC):
    """One library in one process, held to a number of threads."""

    operations: Operations
    # Whether its users compile a function before its first call (torch.compile, jax.jit).
    captures_first = False

    def __init__(self, threads: int) -> None:
        self.threads = threads

    @abstractmethod
    def load(self, array: HostArray) -> Any:
        """The library's own tensor with the values of `array`."""

    @abstractmethod
    def fetch(self, tensor: Any) -> HostArray:
        """The values of one of the library's tensors."""

    @abstractmethod
    def eager(self, function: Function, inputs: list[Any]) -> Callable[[], Any]:
        """A call that builds and computes `function(operations, *inputs)` from nothing."""

    def captured(self, function: Function, inputs: list[Any]) -> Callable[[], Any]:
        """A call that replays `function` the fastest way the library has; else the eager one."""
        return self.eager(function, inputs)

    def prepare(self, row: Row) -> Prepared:
        """Load the row's inputs and make its call."""
        inputs = [self.load(array) for array in row.inputs()]
        capture = self.captured if row.captured else self.eager
        call = capture(row.function, inputs)
        return Prepared(call, lambda: self.fetch_all(call()))

    def fetch_all(self, result: Any) -> list[HostArray]:
        """The values of a result, which is one tensor or several."""
        tensors = result if isinstance(result, tuple | list) else [result]
        return [self.fetch(tensor) for tensor in tensors]

    def compile_report(self) -> dict[str, object] | None:
        """How long the compilation of the last prepared row took, where the library tells."""
        return None

    def release(self) -> None:  # noqa: B027 (most libraries keep nothing)
        """Forget what the last prepared row left behind."""
