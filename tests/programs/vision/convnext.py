"""Blocks of ConvNeXt: depthwise 7×7, norms over channels that are last, a scale for each layer."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dwconv = nn.Conv2d(dim, dim, kernel_size=7, padding=3, groups=dim)
        self.norm = nn.LayerNorm(dim, eps=1e-6)
        self.pwconv1, self.pwconv2 = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)
        self.gamma = nn.Parameter(1e-1 * torch.ones(dim), requires_grad=True)

    def forward(self, x):
        shortcut = x
        x = self.dwconv(x).permute(0, 2, 3, 1)
        x = self.pwconv2(F.gelu(self.pwconv1(self.norm(x))))
        return shortcut + (self.gamma * x).permute(0, 3, 1, 2)


def main(capture=lambda step: step):
    draws = Draws()
    model = draws.fill(Block(3), scale=0.1)
    x = draws.normal(1, 3, 8, 8)
    out = model(x)
    out.mean([-2, -1]).square().sum().backward()
    return {"out": out, "gamma": model.gamma.grad, "norm": model.norm.weight.grad}


if __name__ == "__main__":
    show(main())
