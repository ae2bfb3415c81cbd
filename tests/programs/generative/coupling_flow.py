"""Invertible couplings: densities by change of variables, and samples by the inverse."""

import torch
import torch.nn as nn

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


class Coupling(nn.Module):
    def __init__(self, mask):
        super().__init__()
        self.register_buffer("mask", mask)
        self.s = nn.Sequential(nn.Linear(2, 6), nn.Tanh(), nn.Linear(6, 2), nn.Tanh())
        self.t = nn.Sequential(nn.Linear(2, 6), nn.Tanh(), nn.Linear(6, 2))

    def forward(self, x):
        kept = x * self.mask
        s, t = self.s(kept) * (1 - self.mask), self.t(kept) * (1 - self.mask)
        return kept + (1 - self.mask) * (x * torch.exp(s) + t), s.sum(-1)

    def inverse(self, y):
        kept = y * self.mask
        s, t = self.s(kept) * (1 - self.mask), self.t(kept) * (1 - self.mask)
        return kept + (1 - self.mask) * (y - t) * torch.exp(-s)


def main(capture=lambda step: step):
    draws = Draws()
    masks = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
    flow = draws.fill(nn.ModuleList([Coupling(m) for m in masks]))
    prior = torch.distributions.MultivariateNormal(torch.zeros(2), torch.eye(2))
    x = draws.normal(6, 2)
    optimizer = torch.optim.Adam(flow.parameters(), lr=1e-2)
    for _ in range(2):
        z, total = x, 0
        for layer in flow:
            z, log_det = layer(z)
            total = total + log_det
        loss = -(prior.log_prob(z) + total).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        z = x
        for layer in flow:
            z, _ = layer(z)
        for layer in reversed(flow):
            z = layer.inverse(z)
    return {"loss": loss, "back": z, "same": torch.allclose(z, x, atol=1e-4)}


if __name__ == "__main__":
    show(main())
