"""Mobile blocks: depthwise convolutions, squeeze and excitation, hard swish."""

import torch.nn as nn
import torch.nn.functional as F

from tests.programs.drawing import Draws, show

TOLERANCE = 5e-4


class SqueezeExcite(nn.Module):
    def __init__(self, channels, reduced):
        super().__init__()
        self.reduce = nn.Conv2d(channels, reduced, 1)
        self.expand = nn.Conv2d(reduced, channels, 1)

    def forward(self, x):
        scale = F.adaptive_avg_pool2d(x, 1)
        return x * F.hardsigmoid(self.expand(F.relu(self.reduce(scale))))


class InvertedResidual(nn.Module):
    def __init__(self, channels, expand):
        super().__init__()
        hidden = channels * expand
        self.conv = nn.Sequential(
            nn.Conv2d(channels, hidden, 1, bias=False), nn.BatchNorm2d(hidden), nn.Hardswish(),
            nn.Conv2d(hidden, hidden, 3, 1, 1, groups=hidden, bias=False), nn.BatchNorm2d(hidden),
            nn.ReLU6(), SqueezeExcite(hidden, 2), nn.Conv2d(hidden, channels, 1, bias=False),
            nn.BatchNorm2d(channels),
        )  # fmt: skip

    def forward(self, x):
        return x + self.conv(x)


def main(capture=lambda step: step):
    draws = Draws()
    block = draws.fill(InvertedResidual(3, 2))
    x = draws.normal(2, 3, 5, 5)
    out = block(x)
    out.square().mean().backward()
    gradients = [p.grad.abs().sum().item() for p in block.parameters()]
    return {"out": out, "gradients": gradients}


if __name__ == "__main__":
    show(main())
