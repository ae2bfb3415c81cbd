"""Losses and distances as modules: `MSELoss()(x, y)` is `mse_loss(x, y)`."""

from __future__ import annotations

from typing import Any

from ogive.nn.layers.wrapped import Wrapped, wrap_function

OLD = "size_average reduce reduction"
"""How PyTorch's losses end: with two words from before `reduction`."""


def _loss(name: str, function: str, description: str, order: str, **defaults: Any) -> type[Wrapped]:
    """The class of a loss, with PyTorch's order of arguments."""
    return wrap_function(
        name, function, description, order=order, **{"reduction": "mean", **defaults}
    )


L1Loss = _loss("L1Loss", "l1_loss", "|x - y|", OLD)
MSELoss = _loss("MSELoss", "mse_loss", "(x - y)²", OLD)
SmoothL1Loss = _loss(
    "SmoothL1Loss", "smooth_l1_loss", "(x - y)²/2 beta near 0, |x - y| further off",
    f"{OLD} beta", beta=1.0,
)  # fmt: skip
HuberLoss = wrap_function(
    "HuberLoss", "huber_loss", "(x - y)²/2 near 0, delta·|x - y| further off",
    reduction="mean", delta=1.0,
)  # fmt: skip
CrossEntropyLoss = _loss(
    "CrossEntropyLoss", "cross_entropy", "-log(softmax(x)) of the right class",
    "weight size_average ignore_index reduce reduction label_smoothing",
    weight=None, ignore_index=-100, label_smoothing=0.0,
)  # fmt: skip
NLLLoss = _loss(
    "NLLLoss", "nll_loss", "-x of the right class",
    "weight size_average ignore_index reduce reduction", weight=None, ignore_index=-100,
)  # fmt: skip
CTCLoss = wrap_function(
    "CTCLoss", "ctc_loss", "-log of the probability of labels over all alignments",
    blank=0, reduction="mean", zero_infinity=False,
)  # fmt: skip
BCELoss = _loss(
    "BCELoss", "binary_cross_entropy", "-y·log(x) - (1 - y)·log(1 - x)", f"weight {OLD}",
    weight=None,
)  # fmt: skip
BCEWithLogitsLoss = _loss(
    "BCEWithLogitsLoss", "binary_cross_entropy_with_logits", "`BCELoss` of sigmoid(x)",
    f"weight {OLD} pos_weight", weight=None, pos_weight=None,
)  # fmt: skip
KLDivLoss = _loss(
    "KLDivLoss", "kl_div", "y·(log y - x)", f"{OLD} log_target", log_target=False
)
PoissonNLLLoss = _loss(
    "PoissonNLLLoss", "poisson_nll_loss", "exp(x) - y·x",
    "log_input full size_average eps reduce reduction", log_input=True, full=False, eps=1e-8,
)  # fmt: skip
GaussianNLLLoss = wrap_function(
    "GaussianNLLLoss", "gaussian_nll_loss", "that of a normal distribution",
    full=False, eps=1e-6, reduction="mean",
)  # fmt: skip
HingeEmbeddingLoss = _loss(
    "HingeEmbeddingLoss", "hinge_embedding_loss", "x, or max(0, margin - x) where y is -1",
    f"margin {OLD}", margin=1.0,
)  # fmt: skip
MarginRankingLoss = _loss(
    "MarginRankingLoss", "margin_ranking_loss", "max(0, -y·(x₁ - x₂) + margin)", f"margin {OLD}",
    margin=0.0,
)  # fmt: skip
CosineEmbeddingLoss = _loss(
    "CosineEmbeddingLoss", "cosine_embedding_loss", "1 - cos, or max(0, cos - margin)",
    f"margin {OLD}", margin=0.0,
)  # fmt: skip
SoftMarginLoss = _loss("SoftMarginLoss", "soft_margin_loss", "log(1 + exp(-y·x))", OLD)
MultiMarginLoss = _loss(
    "MultiMarginLoss", "multi_margin_loss", "max(0, margin - x[y] + x[i])ᵖ over the classes",
    f"p margin weight {OLD}", p=1, margin=1.0, weight=None,
)  # fmt: skip
MultiLabelMarginLoss = _loss(
    "MultiLabelMarginLoss", "multilabel_margin_loss", "margins of several right classes", OLD
)
MultiLabelSoftMarginLoss = _loss(
    "MultiLabelSoftMarginLoss", "multilabel_soft_margin_loss", "`BCEWithLogitsLoss` by class",
    f"weight {OLD}", weight=None,
)  # fmt: skip
TripletMarginLoss = _loss(
    "TripletMarginLoss", "triplet_margin_loss", "max(0, d(x, near) - d(x, far) + margin)",
    f"margin p eps swap {OLD}", margin=1.0, p=2.0, eps=1e-6, swap=False,
)  # fmt: skip
TripletMarginWithDistanceLoss = wrap_function(
    "TripletMarginWithDistanceLoss", "triplet_margin_with_distance_loss",
    "`TripletMarginLoss` with a distance of your own",
    distance_function=None, margin=1.0, swap=False, reduction="mean",
)  # fmt: skip
CosineSimilarity = wrap_function(
    "CosineSimilarity", "cosine_similarity", "x·y / (|x|·|y|) along an axis", dim=1, eps=1e-8
)
PairwiseDistance = wrap_function(
    "PairwiseDistance", "pairwise_distance", "the norm of x - y along the last axis",
    p=2.0, eps=1e-6, keepdim=False,
)  # fmt: skip
