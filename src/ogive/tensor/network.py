"""What `torch.nn.functional` holds, joined: the operations that layers of networks are made of."""

from __future__ import annotations

from ogive.tensor.attention import Attention
from ogive.tensor.classification import Classification
from ogive.tensor.convolution import Convolution
from ogive.tensor.embedding import Embedding
from ogive.tensor.folding import Folding
from ogive.tensor.losses import Losses
from ogive.tensor.margins import Margins
from ogive.tensor.normalization import Normalization
from ogive.tensor.padding import Padding
from ogive.tensor.resize import Resizing


class Network(
    Convolution, Normalization, Resizing, Folding, Attention, Losses, Classification, Margins,
    Embedding, Padding,
):  # fmt: skip
    """Nothing of its own: one family beside the other."""

    __slots__ = ()
