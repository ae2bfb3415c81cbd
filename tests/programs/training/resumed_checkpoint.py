"""Training saved to a file and gone on with: weights, optimizer, schedule, and the step."""

import io

import torch
import torch.nn as nn
import torch.nn.functional as F

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


def make(draws):
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
    draws.fill(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    return model, optimizer, torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)


def train(model, optimizer, schedule, x, y, steps):
    for _ in range(steps):
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return loss


def main(capture=lambda step: step):
    x, y = Draws(3).normal(5, 3), Draws(4).normal(5, 1)
    straight = make(Draws())
    through = train(*straight, x, y, 5)
    model, optimizer, schedule = make(Draws())
    train(model, optimizer, schedule, x, y, 3)
    file = io.BytesIO()
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(),
                "schedule": schedule.state_dict(), "step": 3}, file)  # fmt: skip
    file.seek(0)
    checkpoint = torch.load(file, map_location="cpu", weights_only=True)
    model, optimizer, schedule = make(Draws(11))
    result = model.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    schedule.load_state_dict(checkpoint["schedule"])
    resumed = train(model, optimizer, schedule, x, y, 2)
    return {"through": through, "resumed": resumed, "rate": schedule.get_last_lr(),
            "missing": len(result.missing_keys), "step": checkpoint["step"]}


if __name__ == "__main__":
    show(main())
