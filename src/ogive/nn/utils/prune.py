"""Prune parameters: mask their least important entries, by PyTorch's names.

    layer.weight    a parameter    →    layer.weight_orig · layer.weight_mask

The original is trained, and the mask is a buffer. The product is computed anew at each call.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ogive import random
from ogive.errors import ArgumentError
from ogive.nn.module import AnyModule, Given
from ogive.nn.module_parts.hooks import Handle
from ogive.tensor.creation.constructors import ones_like, zeros_like
from ogive.tensor.movement.joining import cat
from ogive.tensor.tensor import Tensor

Amount = int | float
"""The number of entries to prune, or their share of the entries not pruned yet."""

_handles: str = "_pruning_handles"


class BasePruningMethod:
    """The base of ways to prune: define `compute_mask`, and say by `PRUNING_TYPE` what is compared.

    "unstructured" methods are given the entries that are left, in a row, "structured" ones the
    channels along `dim` that are left, "global" ones everything.

    >>> class EveryOther(nn.utils.prune.BasePruningMethod):
    ...     PRUNING_TYPE = "unstructured"
    ...     def compute_mask(self, t, default_mask):
    ...         mask = default_mask.clone()
    ...         mask.view(-1)[::2] = 0
    ...         return mask
    >>> layer = nn.Linear(3, 4)
    >>> _ = EveryOther.apply(layer, "bias")
    >>> layer.bias_mask.tolist()
    [0.0, 1.0, 0.0, 1.0]
    """

    _tensor_name: str
    PRUNING_TYPE = "unstructured"
    dim: int

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """1 for what is kept and 0 for what goes, of entries whose mask was `default_mask`."""
        raise NotImplementedError(f"{type(self).__name__} defines no compute_mask()")

    @classmethod
    def apply(
        cls,
        module: AnyModule,
        name: str,
        *args: Any,
        importance_scores: Tensor | None = None,
        **kwargs: Any,
    ) -> Any:
        """Mask entries of a parameter of a module. Returns what is called before the module is."""
        method = cls(*args, **kwargs)
        method._tensor_name = name
        scores = getattr(module, name) if importance_scores is None else importance_scores
        known = _handles_of(module).get(name)
        hook: BasePruningMethod = method
        if known is not None:
            before: Any = known.function
            hook = before if isinstance(before, PruningContainer) else PruningContainer(before)
            hook.add_pruning_method(method)
        mask = hook.compute_mask(scores.detach(), default_mask=_mask_of(module, name))
        _put_mask(module, name, mask, hook)
        return hook

    def apply_mask(self, module: AnyModule) -> Tensor:
        """The parameter with zeros where it is masked."""
        name = self._tensor_name
        masked: Tensor = getattr(module, f"{name}_mask") * getattr(module, f"{name}_orig")
        return masked

    def prune(
        self,
        t: Tensor,
        default_mask: Tensor | None = None,
        importance_scores: Tensor | None = None,
    ) -> Tensor:
        """A tensor with zeros where this method would mask it."""
        mask = ones_like(t) if default_mask is None else default_mask
        scores = t if importance_scores is None else importance_scores
        return t * self.compute_mask(scores, default_mask=mask)

    def remove(self, module: AnyModule) -> None:
        """Let the parameter be one again, as `remove` does."""
        remove(module, self._tensor_name)

    def __call__(self, module: AnyModule, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))


class PruningContainer(BasePruningMethod):
    """Several methods, one after the other."""

    def __init__(self, *methods: BasePruningMethod) -> None:
        self._methods = methods
        if methods:
            self._tensor_name = methods[0]._tensor_name

    def add_pruning_method(self, method: BasePruningMethod) -> None:
        """Take on one more."""
        self._methods = (*self._methods, method)

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask of the last method over what the others have left."""
        method = self._methods[-1]
        if method.PRUNING_TYPE == "unstructured":
            left: Any = default_mask != 0
        elif method.PRUNING_TYPE == "structured":
            others = [axis for axis in range(t.ndim) if axis != method.dim % t.ndim]
            left = [slice(None)] * t.ndim
            left[method.dim] = default_mask.sum(dim=others) != 0
            left = tuple(left)
        else:
            left = ...
        mask = default_mask.clone()
        part = method.compute_mask(t[left], default_mask=default_mask[left])
        mask[left] = part.to(mask.dtype)
        return mask

    def __len__(self) -> int:
        return len(self._methods)

    def __iter__(self) -> Iterator[BasePruningMethod]:
        return iter(self._methods)

    def __getitem__(self, place: int) -> BasePruningMethod:
        return self._methods[place]


class Identity(BasePruningMethod):
    """Nothing goes."""

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return default_mask


class L1Unstructured(BasePruningMethod):
    """The entries of least magnitude go."""

    def __init__(self, amount: Amount) -> None:
        self.amount = amount

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return _masked(t.abs(), default_mask, self.amount)


class RandomUnstructured(L1Unstructured):
    """Prunes random entries."""

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return _masked(random.rand(*t.shape), default_mask, self.amount)


class LnStructured(BasePruningMethod):
    """The channels along `dim` go whose norm of order `n` is least."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: Amount, n: float, dim: int = -1) -> None:
        self.amount, self.n, self.dim = amount, n, dim

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        others = [axis for axis in range(t.ndim) if axis != self.dim % t.ndim]
        left = (default_mask.sum(dim=others) != 0).to(t.dtype)
        mask = _masked(self._scores(t, others), left, self.amount)
        shape = [1 if axis in others else size for axis, size in enumerate(t.shape)]
        return mask.reshape(shape) * default_mask

    def _scores(self, t: Tensor, others: list[int]) -> Tensor:
        return t.norm(self.n, dim=others)


class RandomStructured(LnStructured):
    """Some channels along `dim` go, whichever."""

    def __init__(self, amount: Amount, dim: int = -1) -> None:
        self.amount, self.dim = amount, dim

    def _scores(self, t: Tensor, others: list[int]) -> Tensor:
        return random.rand(t.shape[self.dim])


class CustomFromMask(BasePruningMethod):
    """Prune the elements where a given mask is 0."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return default_mask * self.mask.to(default_mask.dtype)


def identity(module: Given, name: str) -> Given:
    """Mask nothing: the parameter is a product with ones from now on."""
    Identity.apply(module, name)
    return module


def l1_unstructured(
    module: Given, name: str, amount: Amount, importance_scores: Tensor | None = None
) -> Given:
    """Mask the entries of least magnitude, or of least `importance_scores`. Returns the module.

    >>> layer = nn.Linear(4, 2)
    >>> _ = nn.utils.prune.l1_unstructured(layer, "weight", amount=0.5)
    >>> int((layer.weight == 0).sum()), sorted(layer.state_dict())
    (4, ['bias', 'weight_mask', 'weight_orig'])
    """
    L1Unstructured.apply(module, name, amount, importance_scores=importance_scores)
    return module


def random_unstructured(module: Given, name: str, amount: Amount) -> Given:
    """Mask entries that are drawn. Returns the module."""
    RandomUnstructured.apply(module, name, amount)
    return module


def ln_structured(
    module: Given,
    name: str,
    amount: Amount,
    n: float,
    dim: int,
    importance_scores: Tensor | None = None,
) -> Given:
    """Mask channels along `dim`, those of least norm of order `n`. Returns the module."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def random_structured(module: Given, name: str, amount: Amount, dim: int) -> Given:
    """Mask channels along `dim` that are drawn. Returns the module."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def global_unstructured(
    parameters: Iterable[tuple[AnyModule, str]],
    pruning_method: type[BasePruningMethod],
    importance_scores: Mapping[tuple[AnyModule, str], Tensor] | None = None,
    **settings: Any,
) -> None:
    """Mask the least important entries of several parameters together."""
    pairs = list(parameters)
    given = importance_scores or {}
    method = pruning_method(**settings)
    method._tensor_name = "parameters"
    values = [given.get(pair, getattr(*pair)).detach() for pair in pairs]
    masks = cat([_mask_of(*pair).reshape(-1) for pair in pairs])
    everything = cat([value.reshape(-1) for value in values])
    mask = PruningContainer(method).compute_mask(everything, masks)
    begin = 0
    for (module, name), value in zip(pairs, values, strict=True):
        count = math.prod(value.shape)
        custom_from_mask(module, name, mask[begin : begin + count].reshape(value.shape))
        begin += count


def custom_from_mask(module: Given, name: str, mask: Tensor) -> Given:
    """Mask the entries of a parameter where `mask` is zero, besides those masked already."""
    CustomFromMask.apply(module, name, mask)
    return module


def remove(module: Given, name: str) -> Given:
    """Make pruning permanent: a plain parameter with zeros where it was masked. Returns the module.
    """
    if name not in _handles_of(module):
        raise ArgumentError(f"{type(module).__name__}.{name} is not pruned")
    _handles_of(module).pop(name).remove()
    original = getattr(module, f"{name}_orig")
    original.data = (original * getattr(module, f"{name}_mask")).detach()
    for gone in (name, f"{name}_orig", f"{name}_mask"):
        delattr(module, gone)
    kept = {known: how for known, how in module._buffer_names.items() if known != f"{name}_mask"}
    module._buffer_names = kept
    module.register_parameter(name, original)
    return module


def is_pruned(module: AnyModule) -> bool:
    """Whether a parameter of a module, or of a module below it, is masked."""
    return any(_handles_of(each) for each in module.modules())


def _put_mask(module: AnyModule, name: str, mask: Tensor, hook: BasePruningMethod) -> None:
    """Let a parameter be masked from now on, and `hook` do so at each call of the module."""
    original = getattr(module, f"{name}_orig", None)
    if original is None:
        original = getattr(module, name)
        delattr(module, name)
        module.register_parameter(f"{name}_orig", original)
    else:
        _handles_of(module).pop(name).remove()
    module.register_buffer(f"{name}_mask", mask.to(original.dtype).detach().contiguous())
    hook(module, ())
    _handles_of(module)[name] = module.register_forward_pre_hook(hook)


def _handles_of(module: AnyModule) -> dict[str, Handle]:
    handles: dict[str, Handle] = vars(module).setdefault(_handles, {})
    return handles


def _mask_of(module: AnyModule, name: str) -> Tensor:
    """The mask of a parameter, or ones."""
    known = getattr(module, f"{name}_mask", None)
    mask: Tensor = ones_like(getattr(module, name)).detach() if known is None else known.detach()
    return mask


def _masked(scores: Tensor, mask: Tensor, amount: Amount) -> Tensor:
    """A mask that is zero also for the least scores among the entries left in `mask`."""
    left = int((mask != 0).sum())
    count = amount if isinstance(amount, int) else round(amount * left)
    if not 0 <= count <= left:
        raise ArgumentError(f"cannot prune {count} entries: only {left} are left")
    if count == 0:
        return mask
    ranked = scores.reshape(-1).masked_fill(mask.reshape(-1) == 0, math.inf)
    gone = ranked.topk(count, largest=False)[1]
    dropped = zeros_like(ranked).index_fill(0, gone, 1.0).reshape(mask.shape)
    return mask * (1 - dropped.to(mask.dtype))
