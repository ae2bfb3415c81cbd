"""Ratings as products of factors: embeddings, biases, a loss over observed pairs only."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


class MF(nn.Module):
    def __init__(self, users, items, k):
        super().__init__()
        self.user, self.item = nn.Embedding(users, k), nn.Embedding(items, k)
        self.user_bias, self.item_bias = nn.Embedding(users, 1), nn.Embedding(items, 1)
        self.offset = nn.Parameter(torch.tensor([0.5]))

    def forward(self, u, i):
        dot = (self.user(u) * self.item(i)).sum(dim=1)
        return dot + self.user_bias(u).squeeze() + self.item_bias(i).squeeze() + self.offset


def main(capture=lambda step: step):
    draws = Draws()
    model = draws.fill(MF(5, 6, 3))
    users, items, ratings = draws.integers(5, 12), draws.integers(6, 12), draws.normal(12)
    optimizer = torch.optim.Adamax(model.parameters(), lr=1e-2)

    @capture
    def step(users, items, ratings):
        loss = F.mse_loss(model(users, items), ratings)
        loss = loss + 0.01 * sum(p.norm() for p in model.parameters())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.detach()

    losses = [step(users, items, ratings).item() for _ in range(3)]
    table = model.user.weight @ model.item.weight.T
    best = torch.topk(table, 2, dim=1).indices
    return {"losses": losses, "table": table, "best": best}


if __name__ == "__main__":
    show(main())
