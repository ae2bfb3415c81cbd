"""The operations of layers as functions, by the names of `torch.nn.functional`.

Most are the methods of `Tensor` of the same name. `unfold` and `fold`, which work on images, are
the methods `unfold_windows` and `fold_windows`.

>>> conv2d(ogive.ones(1, 1, 4, 4), ogive.ones(1, 1, 3, 3)).shape
(1, 1, 2, 2)
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from ogive.nn.layers.alignment import ctc_loss
from ogive.nn.layers.bags import embedding, embedding_bag
from ogive.nn.layers.composed import linear_cross_entropy, upsample_bilinear, upsample_nearest
from ogive.nn.layers.images.grids import affine_grid, grid_sample
from ogive.nn.layers.images.unpooling import (
    fractional_max_pool2d,
    fractional_max_pool3d,
    max_unpool1d,
    max_unpool2d,
    max_unpool3d,
)
from ogive.nn.layers.sequences.multihead import multi_head_attention_forward
from ogive.nn.old_averages import taking_averages
from ogive.random import gumbel_softmax
from ogive.tensor.method_functions import as_function
from ogive.tensor.reduction.distances import cosine_similarity, pairwise_distance, pdist
from ogive.tensor.tensor import Tensor


def _taking_inplace(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Add PyTorch's argument `inplace`, with which the result is assigned to the first argument.

    `inplace` is the last positional argument.
    """
    parameters = inspect.signature(function).parameters.values()
    places = [each for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]

    @functools.wraps(function)
    def taking(input: Tensor, *args: Any, inplace: bool = False, **kwargs: Any) -> Tensor:
        if len(args) == len(places):
            *args, inplace = args  # type: ignore[assignment]
        result = function(input, *args, **kwargs)
        return input.assign(result) if inplace else result

    return taking


def _told_of_its_caller(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A function that takes PyTorch's `_stacklevel`, of a warning that it has not."""

    @functools.wraps(function)
    def taking(*args: Any, _stacklevel: int = 3, **kwargs: Any) -> Tensor:
        if len(args) == 4:  # it stands before the dtype
            args = (*args[:2], args[3])
        return function(*args, **kwargs)

    return taking


def _loss(method: Any, order: str) -> Callable[..., Tensor]:
    """A loss, with PyTorch's order of arguments."""
    return taking_averages(as_function(method, order.split()[0]), order)


# Convolution and windows
conv1d = as_function(Tensor.conv1d)
conv2d = as_function(Tensor.conv2d)
conv3d = as_function(Tensor.conv3d)
conv_transpose1d = as_function(Tensor.conv_transpose1d)
conv_transpose2d = as_function(Tensor.conv_transpose2d)
conv_transpose3d = as_function(Tensor.conv_transpose3d)
unfold = as_function(Tensor.unfold_windows)
fold = as_function(Tensor.fold_windows)

# Pooling
max_pool1d = as_function(Tensor.max_pool1d)
max_pool2d = as_function(Tensor.max_pool2d)
max_pool3d = as_function(Tensor.max_pool3d)
avg_pool1d = as_function(Tensor.avg_pool1d)
avg_pool2d = as_function(Tensor.avg_pool2d)
avg_pool3d = as_function(Tensor.avg_pool3d)
lp_pool1d = as_function(Tensor.lp_pool1d)
lp_pool2d = as_function(Tensor.lp_pool2d)
lp_pool3d = as_function(Tensor.lp_pool3d)
adaptive_avg_pool1d = as_function(Tensor.adaptive_avg_pool1d)
adaptive_avg_pool2d = as_function(Tensor.adaptive_avg_pool2d)
adaptive_avg_pool3d = as_function(Tensor.adaptive_avg_pool3d)
adaptive_max_pool1d = as_function(Tensor.adaptive_max_pool1d)
adaptive_max_pool2d = as_function(Tensor.adaptive_max_pool2d)
adaptive_max_pool3d = as_function(Tensor.adaptive_max_pool3d)

# Padding and resolution
pad = as_function(Tensor.pad)
interpolate = as_function(Tensor.interpolate)
upsample = interpolate
pixel_shuffle = as_function(Tensor.pixel_shuffle)
pixel_unshuffle = as_function(Tensor.pixel_unshuffle)
channel_shuffle = as_function(Tensor.channel_shuffle)

# Normalization
batch_norm = as_function(Tensor.batch_norm)
instance_norm = as_function(Tensor.instance_norm)
group_norm = as_function(Tensor.group_norm)
layer_norm = as_function(Tensor.layer_norm)
rms_norm = as_function(Tensor.rms_norm)
local_response_norm = as_function(Tensor.local_response_norm)
normalize = as_function(Tensor.normalize)

# Products and tables
linear = as_function(Tensor.linear)
bilinear = as_function(Tensor.bilinear, "input1")
one_hot = as_function(Tensor.one_hot)
scaled_dot_product_attention = as_function(
    Tensor.scaled_dot_product_attention, "query"
)

# Activations
celu = _taking_inplace(as_function(Tensor.celu))
elu = _taking_inplace(as_function(Tensor.elu))
gelu = as_function(Tensor.gelu)
glu = as_function(Tensor.glu)
hardshrink = as_function(Tensor.hardshrink)
hardsigmoid = _taking_inplace(as_function(Tensor.hardsigmoid))
hardswish = _taking_inplace(as_function(Tensor.hardswish))
hardtanh = _taking_inplace(as_function(Tensor.hardtanh))
leaky_relu = _taking_inplace(as_function(Tensor.leaky_relu))
log_softmax = _told_of_its_caller(as_function(Tensor.log_softmax))
logsigmoid = as_function(Tensor.logsigmoid)
mish = _taking_inplace(as_function(Tensor.mish))
prelu = as_function(Tensor.prelu)
relu = _taking_inplace(as_function(Tensor.relu))
relu6 = _taking_inplace(as_function(Tensor.relu6))
rrelu = _taking_inplace(as_function(Tensor.rrelu))
selu = _taking_inplace(as_function(Tensor.selu))
sigmoid = as_function(Tensor.sigmoid)
silu = _taking_inplace(as_function(Tensor.silu))
softmax = _told_of_its_caller(as_function(Tensor.softmax))
softmin = _told_of_its_caller(as_function(Tensor.softmin))
softplus = as_function(Tensor.softplus)
softshrink = as_function(Tensor.softshrink)
softsign = as_function(Tensor.softsign)
tanh = as_function(Tensor.tanh)
tanhshrink = as_function(Tensor.tanhshrink)
threshold = _taking_inplace(as_function(Tensor.threshold))

# Activations in place
celu_ = as_function(Tensor.celu_)
elu_ = as_function(Tensor.elu_)
hardtanh_ = as_function(Tensor.hardtanh_)
leaky_relu_ = as_function(Tensor.leaky_relu_)
relu_ = as_function(Tensor.relu_)
selu_ = as_function(Tensor.selu_)
threshold_ = as_function(Tensor.threshold_)

# Dropout
dropout = _taking_inplace(as_function(Tensor.dropout))
dropout1d = _taking_inplace(as_function(Tensor.dropout1d))
dropout2d = _taking_inplace(as_function(Tensor.dropout2d))
dropout3d = _taking_inplace(as_function(Tensor.dropout3d))
alpha_dropout = _taking_inplace(as_function(Tensor.alpha_dropout))
feature_alpha_dropout = _taking_inplace(as_function(Tensor.feature_alpha_dropout))

# Losses
binary_cross_entropy = _loss(
    Tensor.binary_cross_entropy,
    "input target weight size_average reduce reduction",
)
binary_cross_entropy_with_logits = _loss(
    Tensor.binary_cross_entropy_with_logits,
    "input target weight size_average reduce reduction pos_weight",
)
cosine_embedding_loss = _loss(
    Tensor.cosine_embedding_loss,
    "input1 input2 target margin size_average reduce reduction",
)
cross_entropy = _loss(
    Tensor.cross_entropy,
    "input target weight size_average ignore_index reduce reduction label_smoothing",
)
gaussian_nll_loss = as_function(Tensor.gaussian_nll_loss)
hinge_embedding_loss = _loss(
    Tensor.hinge_embedding_loss,
    "input target margin size_average reduce reduction",
)
huber_loss = as_function(Tensor.huber_loss)
kl_div = _loss(Tensor.kl_div, "input target size_average reduce reduction log_target")
l1_loss = _loss(Tensor.l1_loss, "input target size_average reduce reduction weight")
margin_ranking_loss = _loss(
    Tensor.margin_ranking_loss,
    "input1 input2 target margin size_average reduce reduction",
)
mse_loss = _loss(Tensor.mse_loss, "input target size_average reduce reduction weight")
multi_margin_loss = _loss(
    Tensor.multi_margin_loss,
    "input target p margin weight size_average reduce reduction",
)
multilabel_margin_loss = _loss(
    Tensor.multilabel_margin_loss,
    "input target size_average reduce reduction",
)
multilabel_soft_margin_loss = _loss(
    Tensor.multilabel_soft_margin_loss,
    "input target weight size_average reduce reduction",
)
nll_loss = _loss(Tensor.nll_loss, "input target weight size_average ignore_index reduce reduction")
poisson_nll_loss = _loss(
    Tensor.poisson_nll_loss,
    "input target log_input full size_average eps reduce reduction",
)
smooth_l1_loss = _loss(Tensor.smooth_l1_loss, "input target size_average reduce reduction beta")
soft_margin_loss = _loss(Tensor.soft_margin_loss, "input target size_average reduce reduction")
triplet_margin_loss = _loss(
    Tensor.triplet_margin_loss,
    "anchor positive negative margin p eps swap size_average reduce reduction",
)
triplet_margin_with_distance_loss = as_function(
    Tensor.triplet_margin_with_distance_loss, "anchor"
)

__all__ = [
    "affine_grid",
    "cosine_similarity",
    "ctc_loss",
    "embedding",
    "embedding_bag",
    "fractional_max_pool2d",
    "fractional_max_pool3d",
    "grid_sample",
    "gumbel_softmax",
    "linear_cross_entropy",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
    "multi_head_attention_forward",
    "pairwise_distance",
    "pdist",
    "upsample_bilinear",
    "upsample_nearest",
]
