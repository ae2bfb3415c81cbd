"""`torch.ops`: the operators that a program defines, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ogive.autograd import Function
from ogive.errors import ArgumentError, StateError

__all__ = ["ops"]


def registered(register: Callable[[Any], Any], function: Any) -> Any:
    """Register a function, or return the decorator that does."""

    def take(given: Any) -> Any:
        register(given)
        return given

    return take if function is None else take(function)


class CustomOpDef:
    """An operator that a program defines: its kernel, and its gradient if it has one."""

    def __init__(self, name: str) -> None:
        self.qualname = name
        self._compute: Callable[..., Any] | None = None
        self._function: type[Function] | None = None

    @property
    def default(self) -> CustomOpDef:
        """The operator itself: there is one overload."""
        return self

    def register_kernel(self, device_types: Any, func: Any = None, /) -> Any:
        """Register `func` as the kernel of the operator."""
        return registered(self.set_compute, func)

    def register_fake(self, fn: Any, /) -> Any:
        """Do nothing: shapes are known from the kernel itself."""
        return fn

    def register_autograd(self, backward: Any, /, *, setup_context: Any = None) -> None:
        """Register `backward(ctx, *gradients)`. `setup_context` stores the values that it needs."""

        def keep(ctx: Any, inputs: Any, output: Any) -> None:
            if setup_context is not None:
                setup_context(ctx, inputs=inputs, output=output)

        members = {
            "forward": staticmethod(lambda *args: self._require_compute()(*args)),
            "setup_context": staticmethod(keep),
            "backward": staticmethod(backward),
        }
        self._function = type(self.qualname.replace("::", "_"), (Function,), members)

    def set_compute(self, function: Callable[..., Any]) -> None:
        self._compute = function

    def _require_compute(self) -> Callable[..., Any]:
        if self._compute is None:
            raise StateError(
                f"operator {self.qualname} has no kernel; register one with torch.library.impl"
            )
        return self._compute

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        compute = self._require_compute()
        if self._function is not None and not kwargs:
            return self._function.apply(*args)
        return compute(*args, **kwargs)


class _Namespace:
    """The operators of one library: `torch.ops.name`."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._operators: dict[str, CustomOpDef] = {}

    def __getattr__(self, name: str) -> CustomOpDef:
        if name in self.__dict__.get("_operators", {}):
            return self._operators[name]
        raise AttributeError(
            f"torch.ops.{self._name} has no operator {name!r}; define it with torch.library"
        )


class _Operators:
    """All operators that programs have defined: `torch.ops`."""

    def __init__(self) -> None:
        self._libraries: dict[str, _Namespace] = {}

    def __getattr__(self, name: str) -> _Namespace:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._libraries.setdefault(name, _Namespace(name))

    def load_library(self, path: Any) -> None:
        """Raise `OSError`: operators compiled for PyTorch cannot run here."""
        raise OSError(f"{path}: operators compiled for PyTorch cannot be loaded")

    def find(self, name: str, make: bool = False) -> CustomOpDef:
        """The operator of a name such as "library::operator"."""
        library, colons, rest = name.partition("::")
        if not colons:
            raise ArgumentError(f"an operator's name must be library::operator, not {name!r}")
        operators = getattr(self, library)._operators
        short = rest.partition("(")[0].partition(".")[0]
        if make:
            operators.setdefault(short, CustomOpDef(f"{library}::{short}"))
        elif short not in operators:
            raise StateError(f"operator {library}::{short} does not exist; define it first")
        operator: CustomOpDef = operators[short]
        return operator


ops = _Operators()
