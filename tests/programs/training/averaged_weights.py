"""Averages of weights: an exponential one of the program's own, and stochastic weight averaging."""

import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

from tests.programs.drawing import Draws, show

TOLERANCE = 3e-4


class EMA:
    def __init__(self, model, decay):
        self.decay = decay
        self.shadow = {k: v.clone().detach() for k, v in model.state_dict().items()}

    def update(self, model):
        with torch.no_grad():
            for name, value in model.state_dict().items():
                if value.dtype.is_floating_point:
                    self.shadow[name].mul_(self.decay).add_(value, alpha=1 - self.decay)
                else:
                    self.shadow[name].copy_(value)


def main(capture=lambda step: step):
    draws = Draws()
    model = draws.fill(nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1)))
    ema, best = EMA(model, 0.9), copy.deepcopy(model.state_dict())
    averaged = torch.optim.swa_utils.AveragedModel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
    schedule = torch.optim.swa_utils.SWALR(optimizer, swa_lr=0.05, anneal_epochs=2)
    x, y = draws.normal(8, 3), draws.normal(8, 1)
    for _ in range(3):
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        ema.update(model)
        averaged.update_parameters(model)
        schedule.step()
    torch.optim.swa_utils.update_bn([x], averaged)
    return {"loss": loss, "ema": ema.shadow["0.weight"], "tracked": ema.shadow["1.running_mean"],
            "averaged": averaged(x), "count": averaged.n_averaged, "best": best["0.weight"]}


if __name__ == "__main__":
    show(main())
