"""Layers that only PyTorch has, and PyTorch's names for parts of ours."""

from __future__ import annotations

from ogive.nn import Linear, NLLLoss
from ogive.nn.init import fans as _calculate_fan_in_and_fan_out
from ogive.nn.layers.images.convolution import Convolution as _ConvNd
from ogive.nn.layers.normalization import BatchNorm as _BatchNorm
from ogive.nn.layers.normalization import InstanceNorm as _InstanceNorm
from ogive.nn.layers.normalization import RunningNorm as _NormBase
from ogive.nn.layers.sequences.transformer import to_function as _get_activation_fn
from ogive.torch.processes.replicas import DataParallel, SyncBatchNorm

__all__ = [
    "DataParallel", "NLLLoss2d", "NonDynamicallyQuantizableLinear", "SyncBatchNorm", "_BatchNorm",
    "_ConvNd", "_InstanceNorm", "_NormBase", "_calculate_fan_in_and_fan_out", "_get_activation_fn",
]  # fmt: skip

NLLLoss2d = NLLLoss
NonDynamicallyQuantizableLinear = Linear
