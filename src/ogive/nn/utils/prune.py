"""Prune parameters: mask their least important entries, by PyTorch's names.

    layer.weight    a parameter    →    layer.weight_orig · layer.weight_mask

The original is trained, and the mask is a buffer. The product is computed anew at each call.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
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


class L1Unstructured:
    """Prunes the entries of least magnitude."""

    def __init__(self, amount: Amount) -> None:
        self.amount = amount

    def importance(self, values: Tensor) -> Tensor:
        """The importance of each entry; the least important ones are pruned. Shapes: unchanged."""
        return values.abs()


class RandomUnstructured(L1Unstructured):
    """Prunes random entries."""

    def importance(self, values: Tensor) -> Tensor:
        return random.rand(*values.shape)


def identity(module: Given, name: str) -> Given:
    """Install a mask of ones, which prunes nothing."""
    return custom_from_mask(module, name, ones_like(getattr(module, name)))


def l1_unstructured(
    module: Given, name: str, amount: Amount, importance_scores: Tensor | None = None
) -> Given:
    """Mask the entries of least magnitude, or of least `importance_scores`. Returns the module.

    >>> layer = nn.Linear(4, 2)
    >>> _ = nn.utils.prune.l1_unstructured(layer, "weight", amount=0.5)
    >>> int((layer.weight == 0).sum()), sorted(layer.state_dict())
    (4, ['bias', 'weight_mask', 'weight_orig'])
    """
    scores = getattr(module, name) if importance_scores is None else importance_scores
    mask = _masked(scores.detach().abs(), _mask_of(module, name), amount)
    return custom_from_mask(module, name, mask)


def random_unstructured(module: Given, name: str, amount: Amount) -> Given:
    """Mask random entries. Returns the module."""
    scores = random.rand(*getattr(module, name).shape)
    return custom_from_mask(module, name, _masked(scores, _mask_of(module, name), amount))


def ln_structured(
    module: Given,
    name: str,
    amount: Amount,
    n: float,
    dim: int,
    importance_scores: Tensor | None = None,
) -> Given:
    """Mask the channels along `dim` with the least norm of order `n`. Returns the module."""
    scores = getattr(module, name) if importance_scores is None else importance_scores
    others = [axis for axis in range(scores.ndim) if axis != dim % scores.ndim]
    return _mask_channels(module, name, scores.detach().norm(n, dim=others), amount, others)


def random_structured(module: Given, name: str, amount: Amount, dim: int) -> Given:
    """Mask random channels along `dim`. Returns the module."""
    value = getattr(module, name)
    others = [axis for axis in range(value.ndim) if axis != dim % value.ndim]
    scores = random.rand(value.shape[dim])
    return _mask_channels(module, name, scores, amount, others)


def global_unstructured(
    parameters: Iterable[tuple[AnyModule, str]],
    pruning_method: type[L1Unstructured],
    importance_scores: Mapping[tuple[AnyModule, str], Tensor] | None = None,
    **settings: Any,
) -> None:
    """Mask the least important entries of several parameters together."""
    pairs = list(parameters)
    given = importance_scores or {}
    method = pruning_method(**settings)
    values = [given.get(pair, getattr(*pair)).detach() for pair in pairs]
    scores = method.importance(cat([value.reshape(-1) for value in values]))
    masks = cat([_mask_of(*pair).reshape(-1) for pair in pairs])
    mask, begin = _masked(scores, masks, method.amount), 0
    for (module, name), value in zip(pairs, values, strict=True):
        count = math.prod(value.shape)
        custom_from_mask(module, name, mask[begin : begin + count].reshape(value.shape))
        begin += count


def custom_from_mask(module: Given, name: str, mask: Tensor) -> Given:
    """Mask the entries of a parameter where `mask` is zero, in addition to those masked already."""
    original = getattr(module, f"{name}_orig", None)
    if original is None:
        original = getattr(module, name)
        delattr(module, name)
        module.register_parameter(f"{name}_orig", original)
    else:
        mask = mask * getattr(module, f"{name}_mask")
        _handles_of(module).pop(name).remove()
    module.register_buffer(f"{name}_mask", mask.to(original.dtype).detach().contiguous())

    def multiply(module: AnyModule, inputs: Any = ()) -> None:
        setattr(module, name, getattr(module, f"{name}_mask") * getattr(module, f"{name}_orig"))

    multiply(module)
    _handles_of(module)[name] = module.register_forward_pre_hook(multiply)
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


def _handles_of(module: AnyModule) -> dict[str, Handle]:
    handles: dict[str, Handle] = vars(module).setdefault(_handles, {})
    return handles


def _mask_of(module: AnyModule, name: str) -> Tensor:
    """The mask of a parameter, or ones."""
    known = getattr(module, f"{name}_mask", None)
    mask: Tensor = ones_like(getattr(module, name)).detach() if known is None else known.detach()
    return mask


def _mask_channels(
    module: Given, name: str, scores: Tensor, amount: Amount, others: list[int]
) -> Given:
    """Mask the channels of least score, among those that are not fully masked."""
    before = _mask_of(module, name)
    left = (before.sum(dim=others) != 0).to(scores.dtype)
    mask = _masked(scores, left, amount)
    shape = [1 if axis in others else size for axis, size in enumerate(before.shape)]
    return custom_from_mask(module, name, mask.reshape(shape) * before)


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
