"""Shuffled groups of channels, split and joined, as ShuffleNet does it."""

import torch
import torch.nn as nn

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


def channel_shuffle(x, groups):
    b, c, h, w = x.size()
    x = x.view(b, groups, c // groups, h, w)
    x = torch.transpose(x, 1, 2).contiguous()
    return x.view(b, c, h, w)


class Unit(nn.Module):
    def __init__(self, channels):
        super().__init__()
        half = channels // 2
        self.branch = nn.Sequential(
            nn.Conv2d(half, half, 1), nn.ReLU(inplace=True),
            nn.Conv2d(half, half, 3, padding=1, groups=half), nn.Conv2d(half, half, 1),
        )  # fmt: skip

    def forward(self, x):
        x1, x2 = x.chunk(2, dim=1)
        return channel_shuffle(torch.cat((x1, self.branch(x2)), dim=1), 2)


def main(capture=lambda step: step):
    draws = Draws()
    model = draws.fill(nn.Sequential(Unit(4), Unit(4)))
    x = draws.normal(2, 4, 4, 4).requires_grad_()
    out = model(x)
    (out * draws.normal(2, 4, 4, 4)).sum().backward()
    return {"out": out, "grad": x.grad}


if __name__ == "__main__":
    show(main())
