"""Capsules: vectors that vote for classes, and agree on them by routing."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


def squash(s, dim=-1):
    square = (s**2).sum(dim, keepdim=True)
    return square / (1 + square) * s / torch.sqrt(square + 1e-8)


class Router(nn.Module):
    def __init__(self, below, above, size_below, size_above, rounds):
        super().__init__()
        self.rounds = rounds
        self.weight = nn.Parameter(torch.empty(below, above, size_below, size_above))

    def forward(self, u):
        votes = torch.einsum("ijnm,bin->bijm", self.weight, u)
        b = votes.new_zeros(*votes.shape[:3])
        for round in range(self.rounds):
            c = F.softmax(b, dim=-1)
            v = squash(torch.einsum("bij,bijm->bjm", c, votes))
            if round + 1 < self.rounds:
                b = b + torch.einsum("bjm,bijm->bij", v.detach(), votes.detach())
        return v


def main(capture=lambda step: step):
    draws = Draws()
    net = draws.fill(nn.Sequential(nn.Conv2d(1, 8, 5, stride=2), nn.ReLU(inplace=True)))
    router = draws.fill(Router(2 * 6 * 6, 3, 4, 5, rounds=3), 0.1)
    x, y = draws.normal(4, 1, 16, 16), draws.integers(3, 4)
    optimizer = torch.optim.Adam([*net.parameters(), *router.parameters()], lr=2e-3)

    @capture
    def step(x, y):
        features = net(x).view(4, 2, 4, 6, 6).permute(0, 1, 3, 4, 2).reshape(4, 72, 4)
        lengths = router(squash(features)).norm(dim=-1)
        labels = torch.eye(3)[y]
        present, absent = F.relu(0.9 - lengths) ** 2, F.relu(lengths - 0.1) ** 2
        loss = (labels * present + 0.5 * (1.0 - labels) * absent).sum(-1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.detach(), lengths.detach()

    losses = []
    for _ in range(3):
        loss, lengths = step(x, y)
        losses.append(loss.item())
    return {"losses": losses, "lengths": lengths}


if __name__ == "__main__":
    show(main())
