"""A network that turns its input: affine grids, sampling, and gradients through both."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


class STN(nn.Module):
    def __init__(self):
        super().__init__()
        self.localization = nn.Sequential(nn.Conv2d(1, 2, 3), nn.MaxPool2d(2, stride=2), nn.ReLU())
        self.fc_loc = nn.Sequential(nn.Linear(2 * 3 * 3, 6), nn.Tanh(), nn.Linear(6, 3 * 2))

    def forward(self, x):
        xs = self.localization(x).view(-1, 2 * 3 * 3)
        theta = self.fc_loc(xs).view(-1, 2, 3)
        grid = F.affine_grid(theta, x.size(), align_corners=False)
        return F.grid_sample(x, grid, align_corners=False), theta


def main(capture=lambda step: step):
    draws = Draws()
    model = draws.fill(STN(), scale=0.2)
    model.fc_loc[2].weight.data.zero_()
    model.fc_loc[2].bias.data.copy_(torch.tensor([0.9, 0.1, 0, -0.1, 0.8, 0.05]))
    x = draws.normal(2, 1, 8, 8)
    out, theta = model(x)
    F.mse_loss(out, x).backward()
    return {"out": out, "theta": theta, "grad": model.fc_loc[2].bias.grad}


if __name__ == "__main__":
    show(main())
