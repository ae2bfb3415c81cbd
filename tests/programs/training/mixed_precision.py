"""Steps under autocast to bfloat16 with scaled losses, and a model converted as a whole."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from tests.programs.drawing import Draws, show

TOLERANCE = 2e-2


def main(capture=lambda step: step):
    draws = Draws()
    model = draws.fill(nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.ReLU(), nn.Linear(8, 2)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    scaler = torch.amp.GradScaler("cpu", init_scale=256.0)
    x, y = draws.normal(6, 4), draws.normal(6, 2)
    for _ in range(2):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            out = model(x)
            loss = F.mse_loss(out.float(), y)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
    half = model.to(torch.bfloat16)
    return {"dtype": str(out.dtype).split(".")[-1], "loss": loss, "scale": scaler.get_scale(),
            "half": half(x.bfloat16()).float(), "weight": model[0].weight.float()}


if __name__ == "__main__":
    show(main())
