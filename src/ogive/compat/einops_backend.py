"""einops on our tensors: `einops.rearrange(x, "b c h w -> b (h w) c")`.

einops finds a framework by a subclass of its `AbstractBackend`, which cannot be registered before
einops is imported. If einops is imported already, the subclass is made at once. Otherwise an import
hook waits for einops's module of backends and makes it then.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from typing import Any

MODULE = "einops._backends"


def announce() -> None:
    """Register our tensors with einops, now or when it is imported."""
    if MODULE in sys.modules:
        define_backend(sys.modules[MODULE])
    else:
        sys.meta_path.insert(0, _Watch())


class _Watch:
    """An import finder that handles only einops's backends: it loads them and adds ours."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name != MODULE:
            return None
        from importlib.util import find_spec

        sys.meta_path.remove(self)
        spec = find_spec(name)
        loader: Any = None if spec is None else spec.loader
        if loader is not None:
            execute = loader.exec_module

            def execute_and_add(module: Any) -> None:
                execute(module)
                define_backend(module)

            loader.exec_module = execute_and_add
        return spec


def define_backend(backends: Any) -> None:
    """Define the subclass by which einops finds our tensors."""
    from ogive.tensor.creation.constructors import arange
    from ogive.tensor.linear_algebra.einsum import einsum
    from ogive.tensor.movement.joining import cat, stack
    from ogive.tensor.tensor import Tensor

    class OgiveBackend(backends.AbstractBackend):  # type: ignore[misc]
        framework_name = "ogive"

        def is_appropriate_type(self, tensor: Any) -> bool:
            return isinstance(tensor, Tensor)

        def from_numpy(self, x: Any) -> Any:
            return Tensor(x)

        def to_numpy(self, x: Any) -> Any:
            return x.detach().numpy()

        def arange(self, start: int, stop: int) -> Any:
            return arange(start, stop)

        def reduce(self, x: Any, operation: str, axes: Any) -> Any:
            method = {"min": "amin", "max": "amax"}.get(operation, operation)
            if method in ("any", "all", "prod"):
                for axis in sorted(axes, reverse=True):
                    x = getattr(x, method)(axis)
                return x
            return getattr(x, method)(tuple(axes))

        def transpose(self, x: Any, axes: Any) -> Any:
            return x.permute(*axes)

        def stack_on_zeroth_dimension(self, tensors: list[Any]) -> Any:
            return stack(tensors)

        def add_axis(self, x: Any, new_position: int) -> Any:
            return x.unsqueeze(new_position)

        def add_axes(self, x: Any, n_axes: int, pos2len: dict[int, int]) -> Any:
            sizes = [-1] * n_axes
            for position, length in pos2len.items():
                x = x.unsqueeze(position)
                sizes[position] = length
            return x.expand(*sizes)

        def tile(self, x: Any, repeats: Any) -> Any:
            return x.repeat(*repeats)

        def concat(self, tensors: list[Any], axis: int) -> Any:
            return cat(tensors, axis)

        def is_float_type(self, x: Any) -> bool:
            return bool(x.dtype.is_float)

        def einsum(self, pattern: str, *x: Any) -> Any:
            return einsum(pattern, *x)

    # Keeps the class alive: Python's list of subclasses is weak.
    backends.OgiveBackend = OgiveBackend
