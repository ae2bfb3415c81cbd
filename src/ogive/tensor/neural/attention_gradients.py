"""Gradients of attention over long sequences, which recompute the weights.

With scores s = q · kᵀ · scale, weights p = softmax(s) and result o = p · v, the gradients for an
upstream gradient g are

    v   pᵀ · g
    q   d · k · scale       where d = p ∘ (g · vᵀ - rows of g ∘ o, summed)
    k   dᵀ · q · scale

Differentiating op by op would keep p and d, whose size is the square of the length. There are two
ways to avoid that:

By blocks: p and d are kept for some heads, or some queries of a head, at a time, so each of the
five products is computed once. The gradients of keys and values are added up over the blocks.

By rows: p is exp(s - level), where the level of a row, the logarithm of its sum of exponentials, is
all that is kept; so each of the three is attention of its own kind, a product of rows that are
worked out from products (`find_scores.py` of `passes/fuse/`). That takes nine products, but leaves
out what does not count. For keys and values the rows run along the queries, and from the last to
the first where the first ones see nothing of them: so rows end early, and none begins late.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ogive.compiler.devices.known_devices import find_device
from ogive.compiler.ir.device_names import group_members
from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.live import history
from ogive.compiler.live.registry import graph_lock, make
from ogive.config import current_config
from ogive.named import record
from ogive.tensor.core import hold, wrap
from ogive.tensor.linear_algebra.matrix_product import product_where
from ogive.tensor.movement.joining import cat, where

if TYPE_CHECKING:
    from ogive.compiler.targets.graph_costs import ScoreGradients
    from ogive.tensor.tensor import Tensor


@record(frozen=True)
class Attended:
    """The rule of a `GRADIENT` node for the result of attention, with queries, keys, values and
    the optional mask as sources, which all have the same batch axes."""

    scale: float
    is_causal: bool
    device: str

    def gradients(self, node: UOp, upstream: UOp) -> list[UOp | None]:
        """The gradients of queries, keys, values and the mask."""
        inputs = [hold(source, self.device) for source in node.inputs]
        query, key, value = inputs[:3]
        mask = inputs[3] if len(inputs) > 3 else None
        given, result = [hold(each, self.device).cast(query.dtype) for each in (upstream, node)]
        common = (given * result).sum(-1, keepdim=True)
        nbytes = math.prod(query.shape[:-1]) * key.shape[-2] * query.dtype.itemsize
        costs = _costs(self.device)
        block = max(costs.block_bytes, -(-nbytes // costs.most_blocks))
        is_added = mask is not None and not mask.dtype.is_bool
        by_rows = self.is_causal or is_added or _always_again(node.dtype, costs)
        if not by_rows and block <= costs.largest_block_bytes:
            parts = self._by_blocks(query, key, value, mask, given, common, block)
            return [*[part.node for part in parts], *([] if mask is None else [None])]
        return self._by_rows(query, key, value, mask, given, common)

    def _by_blocks(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | None,
        given: Tensor,
        common: Tensor,
        block: int,
    ) -> list[Tensor]:
        """The gradients of queries, keys and values. The results of each block are materialized,
        so that a block is finished before the next one begins."""
        inputs = [query, key, value]
        split = [each.reshape(-1, *each.shape[-2:]) for each in (*inputs, given, common)]
        if mask is not None:
            split.append(mask.reshape(-1, *mask.shape[-2:]))
        nbytes = query.shape[-2] * key.shape[-2] * query.dtype.itemsize
        count = max(block // nbytes, 1)
        lines = []
        for first in range(0, split[0].shape[0], count):
            parts = self._of_heads([each[first : first + count] for each in split], block)
            lines.append(cat([part.reshape(part.shape[0], -1) for part in parts], 1).contiguous())
        joined = cat(lines, 0).contiguous()
        gradients, begin = [], 0
        for each in inputs:
            end = begin + each.shape[-2] * each.shape[-1]
            gradients.append(joined[:, begin:end].reshape(each.shape))
            begin = end
        return gradients

    def _of_heads(self, inputs: list[Tensor], block: int) -> list[Tensor]:
        """The gradients of some heads' queries (in parts), keys and values."""
        query, key, value, given, common = inputs[:5]
        nbytes = math.prod(query.shape[:-1]) * key.shape[-2] * query.dtype.itemsize
        rows = -(-query.shape[-2] // -(-nbytes // block))
        queries: list[Tensor] = []
        sums: list[Tensor] = []
        for first in range(0, query.shape[-2], rows):
            part, upstream, own = [x[:, first : first + rows] for x in (query, given, common)]
            mask = inputs[5][:, first : first + rows] if len(inputs) > 5 else None
            exponential, total, _ = exponentials(part @ key.mT * self.scale, mask)
            weights = (exponential / total).contiguous()
            slopes = (weights * (upstream @ value.mT - own)).contiguous()
            queries.append(slopes @ key * self.scale)
            more = [slopes.mT @ part * self.scale, weights.mT @ upstream]
            if sums:
                more = [before + each for before, each in zip(sums, more, strict=True)]
            sums = [each.contiguous() for each in more]
        return [*queries, *sums]

    def _by_rows(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | None,
        given: Tensor,
        common: Tensor,
    ) -> list[UOp | None]:
        """The gradients of queries, keys, values and the mask."""
        _, total, peak = exponentials(query @ key.mT * self.scale, mask)
        level = peak + total.log()
        weights = self._weights(query @ key.mT, level, mask)
        slopes = weights * (given @ value.mT - common)
        parts = [self._product(slopes, key, mask) * self.scale]
        # The gradients of keys and values, with rows along the queries.
        if self.is_causal:
            query, given, level, common = [x.flip(-2) for x in (query, given, level, common)]
            mask = None if mask is None else mask.flip(-2)
        across = None if mask is None else mask.mT
        weights = self._weights(key @ query.mT, level.mT, across)
        turned = weights * (value @ given.mT - common.mT)
        parts += [
            self._product(turned, query, across) * self.scale,
            self._product(weights, given, across),
        ]
        below: list[UOp | None] = [part.node for part in parts]
        if mask is not None:
            below.append(None if mask.dtype.is_bool else slopes.node)
        return below

    def _weights(self, products: Tensor, level: Tensor, mask: Tensor | None) -> Tensor:
        scores = products * self.scale
        if mask is None:
            return (scores - level).exp()
        if mask.dtype.is_bool:
            return where(mask, (scores - level).exp(), 0.0)
        return (scores + mask - level).exp()

    def _product(self, left: Tensor, right: Tensor, mask: Tensor | None) -> Tensor:
        if self.is_causal and mask is not None:
            return product_where(mask, left, right)
        return left @ right


def with_weights_again(
    result: Tensor,
    scores: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    scale: float,
    is_causal: bool,
) -> Tensor:
    """Mark the result of attention with the rule `Attended` for its gradients."""
    front = scores.shape[:-2]
    inputs = [x.expand(*front, *x.shape[-2:]) for x in (query, key, value)]
    if mask is not None:
        inputs.append(mask.expand(scores.shape))
    with graph_lock:
        sources = (result.node, *[x.node for x in inputs])
        rule = Attended(scale, is_causal, result.device)
        return wrap(make(Op.GRADIENT, result.dtype, sources, rule), result.device)


def is_large(scores: Tensor, is_causal: bool, dtype: DType) -> bool:
    """Whether scores are too large to keep, for values of a dtype, and gradients are possible."""
    sizes = [size for size in scores.shape if isinstance(size, int)]
    is_fixed = len(sizes) == scores.ndim
    nbytes = math.prod(sizes) * scores.dtype.itemsize
    if not is_fixed or not history.is_tracking():
        return False
    costs = _costs(scores.device)
    least = costs.causal_score_bytes if is_causal else costs.score_bytes
    return nbytes >= least or _always_again(dtype, costs)


def _always_again(dtype: DType, costs: ScoreGradients) -> bool:
    """Whether scores are never kept for values of a dtype."""
    return costs.narrow_again and dtype.itemsize == 2


def _costs(device: str) -> ScoreGradients:
    """The costs of a device by which the method of the gradients is chosen.

    This is the one choice that is made when a graph is built and not by a pass: in a pass,
    gradients are nodes like all others.
    """
    first = group_members(device)[0]  # the devices of a group are alike
    return find_device(first).target(current_config()).costs.score_gradients


def exponentials(scores: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
    """The exponentials of the scores minus the maximum of the row, their sums, and the maxima.

    A bool mask selects the scores that count; a float mask is added. A row in which none counts
    has zeros, the sum 1 and the maximum 0.
    """
    if mask is None:
        peak = scores.amax(-1, keepdim=True).detach()
        weights = (scores - peak).exp()
        return weights, weights.sum(-1, keepdim=True), peak
    seen = where(mask, scores, -math.inf) if mask.dtype.is_bool else scores + mask
    peak = seen.amax(-1, keepdim=True).detach()
    peak = where(peak == -math.inf, 0.0, peak)
    weights = (seen - peak).exp()
    if mask.dtype.is_bool:
        weights = where(mask, weights, 0.0)
    total = weights.sum(-1, keepdim=True)
    return weights, where(total == 0.0, 1.0, total), peak
