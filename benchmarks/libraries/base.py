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

HostArray = NDArray[Any]
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

    def sigmoid(self, x: Any) -> Any:
        return x.sigmoid()

    def tanh(self, x: Any) -> Any:
        return x.tanh()

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

    def convolve(self, x: Any, weight: Any, stride: int = 1, groups: int = 1) -> Any:
        """Convolution of `(batch, in, height, width)`, padded by half the window's size."""
        return x.conv2d(weight, stride=stride, padding=weight.shape[-1] // 2, groups=groups)

    def max_pool(self, x: Any) -> Any:
        """The maximum of 3×3 windows, two apart, padded by one."""
        return x.max_pool2d(3, stride=2, padding=1)

    def batch_norm(self, x: Any, mean: Any, variance: Any, weight: Any, bias: Any) -> Any:
        """Normalization of the channels of `(batch, channels, height, width)` as in inference."""
        scale = weight / (variance + 1e-5) ** 0.5
        shift = bias - mean * scale
        return x * scale.reshape(1, -1, 1, 1) + shift.reshape(1, -1, 1, 1)

    def cumsum(self, x: Any, axis: int) -> Any:
        return x.cumsum(axis)

    def sort(self, x: Any) -> Any:
        """The elements in ascending order, without their positions."""
        return x.sort()[0]

    def gather(self, x: Any, positions: Any) -> Any:
        """Of each row the elements at the positions in the same row."""
        return x.gather(1, positions)

    def embedding(self, weight: Any, tokens: Any) -> Any:
        """The rows of these numbers."""
        return weight[tokens]

    def integer_product(self, a: Any, b: Any) -> Any:
        """The product of int8 matrices, summed as int32."""
        raise NotThere("no product of int8 into int32")

    def gradient_step(
        self, loss: Function, parameters: Sequence[Any], rate: float
    ) -> tuple[Any, ...]:
        """`parameters - rate * gradient of loss(*parameters)`, as new tensors."""
        raise NotThere("no gradients")


def widened(array: HostArray) -> HostArray:
    """The same values in a dtype that a file of NumPy's can hold."""
    return array.astype(np.float32) if array.dtype.name == "bfloat16" else array


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
