"""A deep equilibrium model: its output is a fixed point, and its gradient another one."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import autograd

from tests.programs.drawing import Draws, show

TOLERANCE = 2e-4


def solve(f, start, rounds=12):
    z = start
    for _ in range(rounds):
        z = f(z)
    return z


class Equilibrium(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        with torch.no_grad():
            z = solve(lambda z: self.inner(z, x), torch.zeros_like(x))
        z = self.inner(z, x)
        z0 = z.clone().detach().requires_grad_()
        f0 = self.inner(z0, x)

        def backward_hook(grad):
            return solve(
                lambda y: autograd.grad(f0, z0, y, retain_graph=True)[0] + grad,
                torch.zeros_like(grad),
            )

        if z.requires_grad:
            z.register_hook(backward_hook)
        return z


class Inner(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)

    def forward(self, z, x):
        return torch.tanh(0.2 * self.linear(z) + self.norm(x))


def main(capture=lambda step: step):
    draws = Draws()
    model = draws.fill(nn.Sequential(nn.Linear(3, 6), Equilibrium(Inner(6)), nn.Linear(6, 2)))
    x, y = draws.normal(7, 3), draws.normal(7, 2)
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05)
    losses = []
    for _ in range(3):
        loss = F.smooth_l1_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    with torch.no_grad():
        h = model[0](x)
        z = model[1](h)
        rest = (model[1].inner(z, h) - z).abs().max()
    return {"losses": losses, "settled": rest < 1e-3,
            "gradient": model[1].inner.linear.weight.grad}


if __name__ == "__main__":
    show(main())
