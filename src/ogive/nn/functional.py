"""The operations of layers as functions, by the names of `torch.nn.functional`.

Each is the method of `Tensor` of the same name, except `unfold` and `fold`, which are about images
and go by `unfold_windows` and `fold_windows` there.

>>> conv2d(ogive.ones(1, 1, 4, 4), ogive.ones(1, 1, 3, 3)).shape
(1, 1, 2, 2)
"""

from __future__ import annotations

from ogive.tensor.distance import cosine_similarity, pairwise_distance, pdist
from ogive.tensor.tensor import Tensor

# Convolution and windows
conv1d = Tensor.conv1d
conv2d = Tensor.conv2d
conv3d = Tensor.conv3d
conv_transpose1d = Tensor.conv_transpose1d
conv_transpose2d = Tensor.conv_transpose2d
conv_transpose3d = Tensor.conv_transpose3d
unfold = Tensor.unfold_windows
fold = Tensor.fold_windows

# Pooling
max_pool1d = Tensor.max_pool1d
max_pool2d = Tensor.max_pool2d
max_pool3d = Tensor.max_pool3d
avg_pool1d = Tensor.avg_pool1d
avg_pool2d = Tensor.avg_pool2d
avg_pool3d = Tensor.avg_pool3d
lp_pool1d = Tensor.lp_pool1d
lp_pool2d = Tensor.lp_pool2d
lp_pool3d = Tensor.lp_pool3d
adaptive_avg_pool1d = Tensor.adaptive_avg_pool1d
adaptive_avg_pool2d = Tensor.adaptive_avg_pool2d
adaptive_avg_pool3d = Tensor.adaptive_avg_pool3d
adaptive_max_pool1d = Tensor.adaptive_max_pool1d
adaptive_max_pool2d = Tensor.adaptive_max_pool2d
adaptive_max_pool3d = Tensor.adaptive_max_pool3d

# Padding and resolution
pad = Tensor.pad
interpolate = Tensor.interpolate
pixel_shuffle = Tensor.pixel_shuffle
pixel_unshuffle = Tensor.pixel_unshuffle
channel_shuffle = Tensor.channel_shuffle

# Normalization
batch_norm = Tensor.batch_norm
instance_norm = Tensor.instance_norm
group_norm = Tensor.group_norm
layer_norm = Tensor.layer_norm
rms_norm = Tensor.rms_norm
local_response_norm = Tensor.local_response_norm
normalize = Tensor.normalize

# Products and tables
linear = Tensor.linear
bilinear = Tensor.bilinear
embedding = Tensor.embedding
one_hot = Tensor.one_hot
scaled_dot_product_attention = Tensor.scaled_dot_product_attention

# Activations
celu = Tensor.celu
elu = Tensor.elu
gelu = Tensor.gelu
glu = Tensor.glu
hardshrink = Tensor.hardshrink
hardsigmoid = Tensor.hardsigmoid
hardswish = Tensor.hardswish
hardtanh = Tensor.hardtanh
leaky_relu = Tensor.leaky_relu
log_softmax = Tensor.log_softmax
logsigmoid = Tensor.logsigmoid
mish = Tensor.mish
prelu = Tensor.prelu
relu = Tensor.relu
relu6 = Tensor.relu6
rrelu = Tensor.rrelu
selu = Tensor.selu
sigmoid = Tensor.sigmoid
silu = Tensor.silu
softmax = Tensor.softmax
softmin = Tensor.softmin
softplus = Tensor.softplus
softshrink = Tensor.softshrink
softsign = Tensor.softsign
tanh = Tensor.tanh
tanhshrink = Tensor.tanhshrink
threshold = Tensor.threshold

# Dropout
dropout = Tensor.dropout
dropout1d = Tensor.dropout1d
dropout2d = Tensor.dropout2d
dropout3d = Tensor.dropout3d
alpha_dropout = Tensor.alpha_dropout

# Losses
binary_cross_entropy = Tensor.binary_cross_entropy
binary_cross_entropy_with_logits = Tensor.binary_cross_entropy_with_logits
cosine_embedding_loss = Tensor.cosine_embedding_loss
cross_entropy = Tensor.cross_entropy
gaussian_nll_loss = Tensor.gaussian_nll_loss
hinge_embedding_loss = Tensor.hinge_embedding_loss
huber_loss = Tensor.huber_loss
kl_div = Tensor.kl_div
l1_loss = Tensor.l1_loss
margin_ranking_loss = Tensor.margin_ranking_loss
mse_loss = Tensor.mse_loss
multi_margin_loss = Tensor.multi_margin_loss
multilabel_margin_loss = Tensor.multilabel_margin_loss
multilabel_soft_margin_loss = Tensor.multilabel_soft_margin_loss
nll_loss = Tensor.nll_loss
poisson_nll_loss = Tensor.poisson_nll_loss
smooth_l1_loss = Tensor.smooth_l1_loss
soft_margin_loss = Tensor.soft_margin_loss
triplet_margin_loss = Tensor.triplet_margin_loss
triplet_margin_with_distance_loss = Tensor.triplet_margin_with_distance_loss

__all__ = ["cosine_similarity", "pairwise_distance", "pdist"]
