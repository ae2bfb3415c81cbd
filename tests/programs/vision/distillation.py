"""A small network learns from a large one: softened targets, features, frozen teacher."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


def main(capture=lambda step: step):
    draws = Draws()
    teacher = draws.fill(nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 4))).eval()
    student = draws.fill(nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 4)))
    teacher.requires_grad_(False)
    x, y, T = draws.normal(8, 6), draws.integers(4, 8), 2.0
    optimizer = torch.optim.NAdam(student.parameters(), lr=1e-2)

    @capture
    def step(x, y):
        with torch.no_grad():
            soft = F.softmax(teacher(x) / T, dim=-1)
        logits = student(x)
        kl = F.kl_div(F.log_softmax(logits / T, dim=-1), soft, reduction="batchmean") * T**2
        loss = 0.7 * kl + 0.3 * F.cross_entropy(logits, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.detach()

    losses = [step(x, y).item() for _ in range(3)]
    agreed = (student(x).argmax(1) == teacher(x).argmax(1)).float().mean()
    return {"losses": losses, "agreed": agreed, "untouched": teacher[0].weight.grad is None}


if __name__ == "__main__":
    show(main())
