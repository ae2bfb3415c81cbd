"""`torch.nn.init`: the names from before version 0.4, which old programs use."""

from __future__ import annotations

from ogive.nn.init import constant_ as constant
from ogive.nn.init import dirac_ as dirac
from ogive.nn.init import kaiming_normal_ as kaiming_normal
from ogive.nn.init import kaiming_uniform_ as kaiming_uniform
from ogive.nn.init import normal_ as normal
from ogive.nn.init import orthogonal_ as orthogonal
from ogive.nn.init import sparse_ as sparse
from ogive.nn.init import uniform_ as uniform
from ogive.nn.init import xavier_normal_ as xavier_normal
from ogive.nn.init import xavier_uniform_ as xavier_uniform

__all__ = [
    "constant", "dirac", "kaiming_normal", "kaiming_uniform", "normal", "orthogonal", "sparse",
    "uniform", "xavier_normal", "xavier_uniform",
]  # fmt: skip
