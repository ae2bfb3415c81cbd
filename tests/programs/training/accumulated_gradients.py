"""Gradients accumulated over small batches, clipped by value and norm, skipped where not finite."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


def main(capture=lambda step: step):
    draws = Draws()
    model = draws.fill(nn.Sequential(nn.Linear(4, 6), nn.Mish(), nn.Linear(6, 2)))
    optimizer = torch.optim.RAdam(model.parameters(), lr=1e-2)
    norms, skipped = [], 0
    optimizer.zero_grad()
    for number in range(6):
        x, y = draws.normal(3, 4), draws.normal(3, 2)
        loss = F.huber_loss(model(x), y) / 2
        loss.backward()
        if (number + 1) % 2 == 0:
            norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
            torch.nn.utils.clip_grad_value_(model.parameters(), 0.05)
            if torch.isfinite(norm):
                optimizer.step()
            else:
                skipped += 1
            norms.append(norm.item())
            optimizer.zero_grad(set_to_none=True)
    return {"norms": norms, "skipped": skipped, "weight": model[0].weight}


if __name__ == "__main__":
    show(main())
