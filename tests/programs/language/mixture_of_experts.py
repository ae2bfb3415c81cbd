"""A layer of experts, each of which is given the tokens that a router chooses for it."""

import torch
import torch.nn.functional as F
from torch import nn

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


class Router(nn.Module):
    def __init__(self, width, experts, chosen):
        super().__init__()
        self.chosen = chosen
        self.scores = nn.Linear(width, experts)

    def forward(self, x):
        scores = self.scores(x)
        best, indices = scores.topk(self.chosen, dim=-1)
        sparse = torch.full_like(scores, float("-inf")).scatter(-1, indices, best)
        return F.softmax(sparse, dim=-1), indices


class Mixture(nn.Module):
    def __init__(self, width, experts, chosen):
        super().__init__()
        self.router = Router(width, experts, chosen)
        self.experts = nn.ModuleList(
            [
                nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width))
                for _ in range(experts)
            ]
        )

    def forward(self, x):
        shares, indices = self.router(x)
        out = torch.zeros_like(x)
        flat, flat_shares = x.view(-1, x.size(-1)), shares.view(-1, shares.size(-1))
        for number, expert in enumerate(self.experts):
            mask = (indices == number).any(dim=-1)
            if mask.any():
                chosen = mask.view(-1)
                out[mask] += expert(flat[chosen]) * flat_shares[chosen, number].unsqueeze(1)
        return out


def main():
    draws = Draws()
    model = draws.fill(Mixture(8, 4, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for _ in range(3):
        x = draws.normal(2, 5, 8)
        loss = (model(x) - x.roll(1, -1)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    shares, indices = model.router(x)
    load = F.one_hot(indices, 4).sum((0, 1, 2)).float()
    return {"losses": losses, "shares": shares, "balance": (load * shares.mean((0, 1))).sum()}


if __name__ == "__main__":
    show(main())
