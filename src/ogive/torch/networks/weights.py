"""`torch.nn.utils`: the old ways to compute a weight, and small helpers.

    layer.weight   a parameter   →   layer.weight_g · layer.weight_v / |layer.weight_v|

The weight is computed anew before each call of the layer, by a hook.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ogive.autograd import no_grad
from ogive.errors import ArgumentError
from ogive.nn.layers.images.convolution import Convolution
from ogive.nn.module import AnyModule
from ogive.nn.parameter import Parameter
from ogive.tensor.tensor import Tensor

__all__ = [
    "remove_spectral_norm", "remove_weight_norm", "skip_init", "spectral_norm", "weight_norm",
]  # fmt: skip

Given = TypeVar("Given", bound=AnyModule)


class ComputedWeight:
    """The base of hooks that compute a weight; `parts` are the ends of the names it is made of."""

    parts: tuple[str, ...]

    def __init__(self, name: str) -> None:
        self.name = name

    def value(self, module: AnyModule) -> Tensor:
        """The weight."""
        raise NotImplementedError

    def install(self, module: AnyModule) -> None:
        """Compute the weight from now on; its parts are there by now, and itself no more."""
        self(module, ())
        self.handle = module.register_forward_pre_hook(self)
        vars(module).setdefault(_COMPUTED, {})[self.name] = self

    def remove(self, module: AnyModule) -> None:
        """Let the weight be a parameter with the value that it has."""
        with no_grad():
            kept = self.value(module).detach().clone()
        self.handle.remove()
        for part in self.parts:
            delattr(module, f"{self.name}_{part}")
        delattr(module, self.name)
        module.register_parameter(self.name, Parameter(kept))

    def __call__(self, module: AnyModule, inputs: Any) -> None:
        setattr(module, self.name, self.value(module))


_COMPUTED = "_computed_weights"
"""Where a module keeps its hooks, by the names of weights."""


class WeightNorm(ComputedWeight):
    """weight = length · direction / |direction|, a length for each entry along `dim`."""

    parts = ("g", "v")

    def __init__(self, name: str, dim: int | None) -> None:
        super().__init__(name)
        self.dim = -1 if dim is None else dim

    def norm(self, direction: Tensor) -> Tensor:
        """The lengths of a weight."""
        if self.dim == -1:
            return direction.norm()
        axes = [axis for axis in range(direction.ndim) if axis != self.dim]
        return direction.norm(dim=axes, keepdim=True) if axes else direction.abs()

    def value(self, module: AnyModule) -> Tensor:
        direction = getattr(module, f"{self.name}_v")
        weight: Tensor = direction * (getattr(module, f"{self.name}_g") / self.norm(direction))
        return weight


def weight_norm(module: Given, name: str = "weight", dim: int | None = 0) -> Given:
    """Let a weight be a length, `weight_g`, times a direction, `weight_v`. Returns the module.

    >>> layer = ogive.torch.nn.utils.weight_norm(nn.Linear(4, 3))
    >>> {name: tuple(p.shape) for name, p in layer.named_parameters() if name != "bias"}
    {'weight_g': (3, 1), 'weight_v': (3, 4)}
    """
    hook = WeightNorm(name, dim)
    weight = _take(module, name, WeightNorm)
    module.register_parameter(f"{name}_g", Parameter(hook.norm(weight.detach())))
    module.register_parameter(f"{name}_v", weight)
    hook.install(module)
    return module


class SpectralNorm(ComputedWeight):
    """weight = original / σ, where σ is the largest singular value of the weight as a matrix.

    In training each call of the layer brings the singular vectors nearer.
    """

    parts = ("orig", "u", "v")

    def __init__(self, name: str, n_power_iterations: int, eps: float, dim: int) -> None:
        super().__init__(name)
        self.n_power_iterations, self.eps, self.dim = n_power_iterations, eps, dim

    def matrix(self, weight: Tensor) -> Tensor:
        """The weight as a matrix whose rows lie along `dim`."""
        return weight.movedim(self.dim, 0).flatten(1)

    def value(self, module: AnyModule) -> Tensor:
        weight = getattr(module, f"{self.name}_orig")
        u, v = getattr(module, f"{self.name}_u"), getattr(module, f"{self.name}_v")
        matrix = self.matrix(weight)
        if module.training:
            with no_grad():
                self._approach(matrix, u, v)
            u, v = u.clone(), v.clone()  # the next call writes to them
        scaled: Tensor = weight / (u @ (matrix @ v))
        return scaled

    def _approach(self, matrix: Tensor, u: Tensor, v: Tensor) -> None:
        for _ in range(self.n_power_iterations):
            v.copy_((matrix.mT @ u).normalize(dim=0, eps=self.eps))
            u.copy_((matrix @ v).normalize(dim=0, eps=self.eps))


def spectral_norm(
    module: Given,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Given:
    """Divide a weight, now `weight_orig`, by its largest singular value. Returns the module.

    >>> layer = ogive.torch.nn.utils.spectral_norm(nn.Linear(4, 3))
    >>> sorted(layer.state_dict())
    ['bias', 'weight_orig', 'weight_u', 'weight_v']
    """
    if dim is None:
        dim = 1 if isinstance(module, Convolution) and module.transposed else 0
    hook = SpectralNorm(name, n_power_iterations, eps, dim)
    weight = _take(module, name, SpectralNorm)
    module.register_parameter(f"{name}_orig", weight)
    for part, size in zip("uv", hook.matrix(weight.detach()).shape, strict=True):
        vector = weight.detach().new_empty(size).normal_(0, 1).normalize(dim=0, eps=eps)
        module.register_buffer(f"{name}_{part}", vector)
    hook.install(module)
    return module


def remove_weight_norm(module: Given, name: str = "weight") -> Given:
    """Undo `weight_norm`: the weight is again a parameter, with the value it has."""
    _hook_of(module, name, WeightNorm).remove(module)
    del vars(module)[_COMPUTED][name]
    return module


def remove_spectral_norm(module: Given, name: str = "weight") -> Given:
    """Undo `spectral_norm`, likewise."""
    _hook_of(module, name, SpectralNorm).remove(module)
    del vars(module)[_COMPUTED][name]
    return module


def _take(module: AnyModule, name: str, kind: type[ComputedWeight]) -> Any:
    """The parameter of that name, which the module has no more."""
    if isinstance(vars(module).get(_COMPUTED, {}).get(name), kind):
        raise ArgumentError(
            f"{type(module).__name__}.{name} is computed by {kind.__name__} already"
        )
    weight = getattr(module, name, None)
    if not isinstance(weight, Parameter):
        raise ArgumentError(f"{type(module).__name__} has no parameter {name!r}")
    delattr(module, name)
    return weight


def _hook_of(module: AnyModule, name: str, kind: type[ComputedWeight]) -> ComputedWeight:
    hook = vars(module).get(_COMPUTED, {}).get(name)
    if not isinstance(hook, kind):
        raise ArgumentError(f"{kind.__name__} of {name!r} not found in {type(module).__name__}")
    return hook


def skip_init(module: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Make a module whose values will be set later. Here they are drawn when first read."""
    kwargs.pop("device", None)
    return module(*args, **kwargs)
