"""Random programs over small tensors: views, writing, gradients and settling in any order.

A program is a list of steps, each a function of the library and of the tensors so far. It is drawn
once and run by PyTorch and by `ogive.torch`; after each step all tensors are compared. What PyTorch
refuses ends the program.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy

Step = Callable[[Any, list[Any]], Any]
Spreads = Sequence[Any]

UNARY = (
    "exp", "tanh", "sigmoid", "relu", "abs", "neg", "square", "sin", "floor", "sign", "sqrt", "erf",
    "log1p", "isnan", "clone", "detach", "contiguous", "round", "logical_not", "float", "double",
    "long", "cos", "reciprocal", "rsqrt", "trunc", "ceil", "silu", "gelu",
)  # fmt: skip
FUNCTIONAL = ("silu", "gelu", "leaky_relu", "elu", "softplus", "hardtanh", "logsigmoid", "mish")
BINARY = (
    "add", "sub", "mul", "div", "maximum", "minimum", "lt", "le", "eq", "ne", "gt", "ge", "pow",
    "remainder", "floor_divide", "atan2", "logical_and", "logical_or", "fmod", "hypot", "copysign",
)  # fmt: skip
IN_PLACE = ("add_", "sub_", "mul_", "copy_", "div_", "clamp_", "tanh_", "relu_", "fill_", "zero_")
REDUCTIONS = (
    "sum", "mean", "prod", "amax", "amin", "any", "all", "argmax", "argmin", "logsumexp", "softmax",
    "log_softmax", "cumsum", "var", "std", "norm", "max", "min", "sort", "argsort", "median",
    "cumprod", "count_nonzero", "flip", "unsqueeze", "squeeze", "unbind",
)  # fmt: skip
SHAPES = ((), (3,), (4,), (2, 3), (3, 4), (1, 4), (4, 1), (2, 3, 4), (0,), (1,), (5, 2))
DTYPES = ("float32", "float64", "int64", "bool", "float32", "float32")


class LeftOut(RuntimeError):
    """A step is not compared: docs/correctness.md says why under "Left out"."""


def leave_out(lib: Any, is_odd: bool) -> None:
    """End the program where PyTorch has ways of its own. Raises `LeftOut`."""
    if is_odd and lib.__name__ == "torch":
        raise LeftOut


def shows_twice(x: Any) -> bool:
    """Whether a tensor of PyTorch shows an element several times."""
    return any(size > 1 and not step for size, step in zip(x.shape, x.stride(), strict=True))


class Maker:
    """Draws the steps of a program."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.numbers = numpy.random.default_rng(seed)

    def program(self, length: int) -> list[tuple[str, Step]]:
        """A program: tensors first, then steps over them."""
        steps = [self.tensor() for _ in range(4)]
        kinds = [
            self.unary, self.binary, self.binary, self.number, self.reduction, self.view, self.view,
            self.written, self.written, self.index, self.set_index, self.join, self.matmul,
            self.backward, self.functional, self.where, self.settle, self.under_no_grad,
            self.tensor,
        ]  # fmt: skip
        return steps + [self.draw.choice(kinds)() for _ in range(length)]

    def _pick(self) -> int:
        return self.draw.randrange(1 << 16)

    def tensor(self) -> tuple[str, Step]:
        shape, dtype = self.draw.choice(SHAPES), self.draw.choice(DTYPES)
        values: Any = numpy.asarray(self.numbers.normal(size=shape) * 2)
        values = values > 0 if dtype == "bool" else values.astype(dtype)
        is_leaf = dtype.startswith("float") and self.draw.random() < 0.5
        return (
            f"tensor{shape} {dtype} {'leaf' if is_leaf else ''}",
            lambda lib, pool: lib.tensor(values, requires_grad=is_leaf),
        )

    def unary(self) -> tuple[str, Step]:
        name, at = self.draw.choice(UNARY), self._pick()

        def step(lib: Any, pool: list[Any]) -> Any:
            x = pool[at % len(pool)]
            if name == "contiguous":
                return x.contiguous().clone()  # a copy or not, as the order in memory is
            if name == "gelu":
                x = x.double()  # PyTorch's in float32 is off by 3 in 10,000
            return getattr(x if hasattr(x, name) else lib.nn.functional, name)(
                *(() if hasattr(x, name) else (x,))
            )

        return f"{name} #{at}", step

    def functional(self) -> tuple[str, Step]:
        name, at = self.draw.choice(FUNCTIONAL), self._pick()

        def step(lib: Any, pool: list[Any]) -> Any:
            x = pool[at % len(pool)]
            return getattr(lib.nn.functional, name)(x.double() if name == "gelu" else x)

        return f"F.{name} #{at}", step

    def binary(self) -> tuple[str, Step]:
        name, at, other = self.draw.choice(BINARY), self._pick(), self._pick()
        return f"{name} #{at} #{other}", lambda lib, pool: getattr(pool[at % len(pool)], name)(
            pool[other % len(pool)]
        )

    def number(self) -> tuple[str, Step]:
        name, at = self.draw.choice(BINARY), self._pick()
        number = self.draw.choice((2, 0.5, -1, 3.0, True, 0, 1.5))
        if name in ("atan2", "logical_and", "logical_or", "maximum", "minimum", "hypot"):
            name = "mul"
        if self.draw.random() < 0.3:
            return f"{number} - #{at}", lambda lib, pool: number - pool[at % len(pool)]

        def step(lib: Any, pool: list[Any]) -> Any:
            x = pool[at % len(pool)]
            leave_out(lib, name == "pow" and number is True and x.dtype == lib.bool)
            leave_out(lib, number == 0 and not x.numel())  # integers: it divides nothing
            return getattr(x, name)(number)

        return f"{name} #{at} {number}", step

    def reduction(self) -> tuple[str, Step]:
        name, at = self.draw.choice(REDUCTIONS), self._pick()
        dim = self.draw.choice((None, 0, -1, 1))
        keep = self.draw.random() < 0.3
        takes_keep = name in ("sum", "mean", "amax", "amin", "logsumexp", "argmax", "max", "min")

        def step(lib: Any, pool: list[Any]) -> Any:
            x = pool[at % len(pool)]
            is_empty = not x.numel()  # no values: PyTorch looks at no dtype, or gives NaN
            leave_out(lib, is_empty and name in ("softmax", "log_softmax", "median"))
            leave_out(lib, name == "median" and shows_twice(x))  # it reads what was never written
            if dim is None:
                return getattr(x, name)()
            if name == "flip":
                return x.flip([dim])
            if name in ("var", "std", "norm", "count_nonzero"):
                return getattr(x, name)(dim=dim)
            return getattr(x, name)(dim, keepdim=True) if keep and takes_keep else (
                getattr(x, name)(dim)
            )

        return f"{name} #{at} dim {dim} {keep}", step

    def view(self) -> tuple[str, Step]:
        at, kind, first = self._pick(), self.draw.randrange(12), self.draw.randrange(3)
        moves: list[Callable[[Any], Any]] = [
            lambda x: x.T if x.ndim == 2 else x.t() if x.ndim < 2 else x.transpose(0, 1),
            lambda x: x.reshape(-1),
            lambda x: x.view(-1),
            lambda x: x.flatten(),
            lambda x: x.unsqueeze(0),
            lambda x: x.squeeze(),
            lambda x: x[first:],
            lambda x: x[..., ::2],
            lambda x: x[first],
            lambda x: x.permute(*reversed(range(x.ndim))),
            lambda x: x.expand(2, *x.shape),
            lambda x: x.data,
        ]

        def step(lib: Any, pool: list[Any]) -> Any:
            x = pool[at % len(pool)]
            if kind == len(moves) - 1 and lib.__name__ == "torch":
                return x.detach()  # PyTorch does not notice writes to `data`
            return moves[kind](x)

        return f"view {kind} #{at} {first}", step

    def written(self) -> tuple[str, Step]:
        name, at, other = self.draw.choice(IN_PLACE), self._pick(), self._pick()
        number = self.draw.choice((2, 0.5, -1.0))
        with_number = self.draw.random() < 0.4

        def step(lib: Any, pool: list[Any]) -> Any:
            x = pool[at % len(pool)]
            leave_out(lib, shows_twice(x))
            if name in ("tanh_", "relu_", "zero_"):
                return getattr(x, name)()
            if name == "clamp_":
                return x.clamp_(-1, 1)
            if name == "fill_":
                return x.fill_(number)
            given: Any = number if with_number and name != "copy_" else pool[other % len(pool)]
            is_new = name == "copy_" and given.requires_grad and not x.is_leaf
            leave_out(lib, is_new)  # what was there has a gradient of zeros, which is None for ours
            return getattr(x, name)(given)

        return f"{name} #{at} #{other} {number if with_number else ''}", step

    def index(self) -> tuple[str, Step]:
        at, kind, n = self._pick(), self.draw.randrange(6), self.draw.randrange(-3, 3)

        def step(lib: Any, pool: list[Any]) -> Any:
            x = pool[at % len(pool)]
            forms: list[Callable[[], Any]] = [
                lambda: x[n],
                lambda: x[lib.tensor([0, n])],
                lambda: x[x > 0],
                lambda: x[[0, 0]],
                lambda: x[:, None] if x.ndim else x[None],
                lambda: x[..., n],
            ]
            return forms[kind]()

        return f"index {kind} #{at} {n}", step

    def set_index(self) -> tuple[str, Step]:
        at, kind, n = self._pick(), self.draw.randrange(6), self.draw.randrange(-3, 3)
        other = self._pick()

        def step(lib: Any, pool: list[Any]) -> Any:
            x, y = pool[at % len(pool)], pool[other % len(pool)]
            leave_out(lib, shows_twice(x))
            is_twice = x.ndim > 0 and len(x) > 0 and n % len(x) == 0
            leave_out(lib, kind == 5 and is_twice)  # PyTorch has gradients of what does not stay
            if kind == 0:
                x[n] = 2
            elif kind == 1:
                x[x > 0] = 1
            elif kind == 2:
                x[n] = y[n] if y.ndim else y
            elif kind == 3:
                x[..., :2] = 0.5
            elif kind == 4:
                x[n] += 1
            else:
                x[lib.tensor([0, n])] = y.sum() if y.dtype == x.dtype else 0
            return None

        return f"set {kind} #{at} {n} #{other}", step

    def join(self) -> tuple[str, Step]:
        name, at, dim = self.draw.choice(("cat", "stack")), self._pick(), self.draw.choice((0, -1))
        return f"{name} #{at} {dim}", lambda lib, pool: getattr(lib, name)(
            [pool[at % len(pool)], pool[at % len(pool)] * 2], dim
        )

    def matmul(self) -> tuple[str, Step]:
        at, other = self._pick(), self._pick()

        def step(lib: Any, pool: list[Any]) -> Any:
            x, y = pool[at % len(pool)], pool[other % len(pool)]
            leave_out(lib, x.dtype != y.dtype)  # without elements PyTorch looks at no dtype
            return x @ (y.transpose(-1, -2) if y.ndim > 1 else y)

        return f"matmul #{at} #{other}", step

    def where(self) -> tuple[str, Step]:
        at, other = self._pick(), self._pick()
        return f"where #{at} #{other}", lambda lib, pool: lib.where(
            pool[at % len(pool)] > 0, pool[at % len(pool)], pool[other % len(pool)]
        )

    def backward(self) -> tuple[str, Step]:
        at = self._pick()

        def step(lib: Any, pool: list[Any]) -> Any:
            x = pool[at % len(pool)]
            if x.requires_grad:
                (x * x).sum().backward(retain_graph=True)

        return f"backward #{at}", step

    def settle(self) -> tuple[str, Step]:
        at = self._pick()

        def step(lib: Any, pool: list[Any]) -> Any:
            x = pool[at % len(pool)]
            if lib.__name__ != "torch" and x.is_eager:
                _ = x.node

        return f"settle #{at}", step

    def under_no_grad(self) -> tuple[str, Step]:
        name, inner = self.draw.choice((self.binary, self.written, self.set_index))()

        def step(lib: Any, pool: list[Any]) -> Any:
            with lib.no_grad():
                return inner(lib, pool)

        return f"no_grad {name}", step


def run(library: Any, steps: list[tuple[str, Step]]) -> list[list[Any]]:
    """What all tensors and gradients are after each step; a string where a step is refused."""
    pool: list[Any] = []
    history: list[list[Any]] = []
    for _, step in steps:
        try:
            made = step(library, pool)
            results = made if isinstance(made, tuple) else () if made is None else (made,)
            for result in results:
                if not any(result is each for each in pool) and result.numel() <= 256:
                    pool.append(result)
            pool[:] = pool[-10:]
            history.append([_facts(each) for each in pool])
        except (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError) as error:
            history.append(["refused", type(error).__name__, str(error)[:200]])
            return history
    return history


def _facts(tensor: Any) -> tuple[Any, ...]:
    gradient = tensor.grad if tensor.is_leaf else None
    return (
        str(tensor.dtype).removeprefix("torch.").removeprefix("ogive."),
        tuple(tensor.shape),
        bool(tensor.requires_grad) and tensor.is_floating_point(),  # PyTorch says so of masks, too
        numpy.array(tensor.tolist(), dtype="float64"),
        None if gradient is None else numpy.array(gradient.tolist(), dtype="float64"),
    )


def difference(
    steps: list[tuple[str, Step]], pytorch: Any, ours: Any, spreads: Spreads | None = None
) -> str | None:
    """The first difference between two libraries, in words; None if there is none.

    `spreads` is for all that `shown` gives how far it may be besides, or None where it may be
    anything: see `tests.hunt.rounding`.
    """
    want, got = run(pytorch, steps), run(ours, steps)
    bounds = iter(spreads or ())
    for at, (one, other) in enumerate(zip(want, got, strict=False)):
        name = f"step {at}, {steps[at][0]}"
        if one and one[0] == "refused":
            return None  # what PyTorch does not do, we may
        if other and other[0] == "refused":
            return f"{name}: done / {other}"
        if len(one) != len(other):
            return f"{name}: {len(one)} tensors / {len(other)}"
        for number, (left, right) in enumerate(zip(one, other, strict=True)):
            own = (0.0, 0.0) if spreads is None else (next(bounds), next(bounds))
            if words := _compare(left, right, own):
                return f"{name}, tensor {number}: {words}"
    return None


def _compare(left: tuple[Any, ...], right: tuple[Any, ...], spreads: tuple[Any, Any]) -> str | None:
    if spreads[0] is None:
        return None
    if left[:3] != right[:3]:
        return f"{left[:3]} / {right[:3]}"
    for value, other, spread in zip(left[3:], right[3:], spreads, strict=True):
        if (value is None) != (other is None):
            return f"gradient {value} / {other}"
        if value is not None and spread is not None:
            same = numpy.isclose(other, value, rtol=2e-4, atol=1e-5 + spread, equal_nan=True)
            if not (same | (spread == numpy.inf)).all():
                return f"{value.tolist()} / {other.tolist()}"
    return None


def shown(steps: list[tuple[str, Step]], library: Any) -> list[Any]:
    """The values and gradients of all tensors after each step, one after the other."""
    return [
        numpy.empty(0) if each is None else each
        for facts in run(library, steps)
        if not (facts and facts[0] == "refused")
        for tensor in facts
        for each in tensor[3:]
    ]


def count_steps(steps: list[tuple[str, Step]], pytorch: Any) -> int:
    """How many steps of a program PyTorch does not refuse: each is followed by a comparison."""
    history = run(pytorch, steps)
    return sum(not (facts and facts[0] == "refused") for facts in history)
