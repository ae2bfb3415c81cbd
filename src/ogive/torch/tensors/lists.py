"""Functions of lists of tensors, `torch._foreach_*`, and `torch._assert`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ogive.tensor.tensor import Tensor
from ogive.torch.names import FOREACH

__all__ = ["_assert", "_foreach_norm", *FOREACH]


def _assert(condition: Any, message: str) -> None:
    """Assert a condition, as a function that stays in captured graphs."""
    assert condition, message


def _foreach_norm(self: Sequence[Tensor], ord: Any = 2, dtype: Any = None) -> list[Tensor]:
    """The norm of each tensor."""
    return [tensor.norm(ord) for tensor in self]


def _over(name: str, operands: int) -> Callable[..., Any]:
    """A function that calls the method `name` of each tensor in a list, with `operands` lists."""
    in_place = name.endswith("_")
    method = {"maximum_": "maximum", "minimum_": "minimum"}.get(name, name)

    def over(self: Sequence[Tensor], *others: Any, **options: Any) -> list[Tensor] | None:
        lists = [_spread(other, len(self)) for other in others]
        if operands == 3 and len(lists) == 3:  # value, one for all or one each
            values = lists.pop()
            results = [
                getattr(x, method)(*rest, value=value)
                for x, *rest, value in zip(self, *lists, values, strict=True)
            ]
        else:
            pairs = zip(self, *lists, strict=True)
            results = [getattr(x, method)(*rest, **options) for x, *rest in pairs]
        if in_place and method != name:
            for x, value in zip(self, results, strict=True):
                x.copy_(value)
        return None if in_place else results

    over.__name__ = over.__qualname__ = f"_foreach_{name}"
    over.__doc__ = f"`{method}` of each tensor of a list."
    return over


def _spread(value: Any, count: int) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else [value] * count


for _name in FOREACH:
    _method = _name.removeprefix("_foreach_")
    globals()[_name] = _over(_method, 3 if _method.startswith("addc") else 2)
