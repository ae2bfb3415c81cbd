"""An equation whose slope is a network, integrated by Runge and Kutta, fitted to a spiral."""

import itertools

import torch
import torch.nn as nn

from tests.programs.drawing import Draws, show

TOLERANCE = 5e-4


class Slope(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2))
        for m in self.net.modules():
            if isinstance(m, nn.Linear):
                nn.init.normal_(m.weight, mean=0, std=0.1)
                nn.init.constant_(m.bias, val=0)

    def forward(self, t, y):
        return self.net(y**3)


def rk4(f, y, times):
    found = [y]
    for t0, t1 in itertools.pairwise(times):
        h = t1 - t0
        k1 = f(t0, y)
        k2 = f(t0 + h / 2, y + h * k1 / 2)
        k3 = f(t0 + h / 2, y + h * k2 / 2)
        k4 = f(t1, y + h * k3)
        y = y + h * (k1 + 2 * k2 + 2 * k3 + k4) / 6
        found.append(y)
    return torch.stack(found)


def main(capture=lambda step: step):
    draws = Draws()
    slope = draws.fill(Slope())
    times = torch.linspace(0.0, 1.0, 4)
    turn = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]])
    true = rk4(lambda t, y: (y**3) @ turn, torch.tensor([[2.0, 0.0]]), times)
    optimizer = torch.optim.RMSprop(slope.parameters(), lr=1e-3)
    for _ in range(2):
        loss = (rk4(slope, true[0], times) - true).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return {"loss": loss, "true": true, "weight": slope.net[2].weight}


if __name__ == "__main__":
    show(main())
