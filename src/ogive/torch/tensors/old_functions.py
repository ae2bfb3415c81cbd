"""Functions that PyTorch has beside those of `nn.functional`: modes are numbers there."""

from __future__ import annotations

from typing import Any

from ogive.nn import functional as F
from ogive.tensor.tensor import Tensor
from ogive.torch.tensors.further_methods import METHODS

__all__ = [
    "alpha_dropout_", "batch_norm", "binary_cross_entropy_with_logits", "conj_physical_",
    "cosine_embedding_loss", "dropout_", "feature_alpha_dropout_", "feature_dropout",
    "feature_dropout_", "gcd_", "hinge_embedding_loss", "instance_norm", "is_conj", "is_inference",
    "is_neg", "kl_div", "lcm_", "margin_ranking_loss", "orgqr", "poisson_nll_loss", "resize_as_",
    "rrelu_", "triplet_margin_loss", "typename", "unsafe_split_with_sizes",
]  # fmt: skip

REDUCTIONS = ("none", "mean", "sum")
"""The meanings of the numbers 0, 1 and 2."""

conj_physical_, gcd_, lcm_ = METHODS["conj_physical_"], METHODS["gcd_"], METHODS["lcm_"]
orgqr, resize_as_ = METHODS["orgqr"], METHODS["resize_as_"]
unsafe_split_with_sizes = METHODS["unsafe_split_with_sizes"]


def batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = False,
) -> Tensor:
    """`nn.functional.batch_norm` in another order."""
    return F.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


def instance_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = False,
) -> Tensor:
    """`nn.functional.instance_norm` in another order."""
    return F.instance_norm(
        input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps
    )


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    pos_weight: Tensor | None = None,
    reduction: int = 0,
) -> Tensor:
    """`nn.functional.binary_cross_entropy_with_logits`."""
    return F.binary_cross_entropy_with_logits(
        input, target, weight, pos_weight=pos_weight, reduction=REDUCTIONS[reduction]
    )


def kl_div(input: Tensor, target: Tensor, reduction: int = 0, *, log_target: bool = False) -> Any:
    """`nn.functional.kl_div`."""
    return F.kl_div(input, target, reduction=REDUCTIONS[reduction], log_target=log_target)


def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 0
) -> Tensor:
    """`nn.functional.cosine_embedding_loss`."""
    return F.cosine_embedding_loss(
        input1, input2, target, margin, reduction=REDUCTIONS[reduction]
    )


def hinge_embedding_loss(
    input: Tensor, target: Tensor, margin: float = 1.0, reduction: int = 0
) -> Tensor:
    """`nn.functional.hinge_embedding_loss`."""
    return F.hinge_embedding_loss(input, target, margin, reduction=REDUCTIONS[reduction])


def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 0
) -> Tensor:
    """`nn.functional.margin_ranking_loss`."""
    return F.margin_ranking_loss(input1, input2, target, margin, reduction=REDUCTIONS[reduction])


def poisson_nll_loss(
    input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int
) -> Tensor:
    """`nn.functional.poisson_nll_loss`."""
    return F.poisson_nll_loss(
        input, target, log_input, full, eps=eps, reduction=REDUCTIONS[reduction]
    )


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: int = 0,
) -> Tensor:
    """`nn.functional.triplet_margin_loss`."""
    return F.triplet_margin_loss(
        anchor, positive, negative, margin, p, eps, swap, reduction=REDUCTIONS[reduction]
    )


def feature_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """Whole channels become 0."""
    return input.dropout2d(p, train)


def dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """`dropout`, in place."""
    return input.copy_(input.dropout(p, train))


def alpha_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """`alpha_dropout`, in place."""
    return input.copy_(input.alpha_dropout(p, train))


def feature_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """`feature_dropout`, in place."""
    return input.copy_(feature_dropout(input, p, train))


def feature_alpha_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """`feature_alpha_dropout`, in place."""
    return input.copy_(input.feature_alpha_dropout(p, train))


def rrelu_(
    input: Tensor, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False
) -> Tensor:
    """`rrelu`, in place."""
    return input.copy_(input.rrelu(lower, upper, training))


def is_conj(input: Tensor) -> bool:
    """Whether a tensor stands for the conjugate of its memory: none does."""
    return False


def is_neg(input: Tensor) -> bool:
    """Whether a tensor stands for the negative of its memory: none does."""
    return False


def is_inference(input: Tensor) -> bool:
    """Whether a tensor can never have gradients: all can."""
    return False


def typename(obj: Any) -> str:
    """The name of a kind of tensor, or of the class of anything else.

    >>> ogive.torch.typename(ogive.torch.ones(2))
    'torch.FloatTensor'
    """
    if isinstance(obj, Tensor):
        return str(obj.type())
    kind = obj if hasattr(obj, "__qualname__") else type(obj)
    module = getattr(kind, "__module__", "") or ""
    return kind.__qualname__ if module in ("", "builtins") else f"{module}.{kind.__qualname__}"
