"""An optimizer of the program's own around another one, with a schedule of its own."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.optim.lr_scheduler import _LRScheduler

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


class SharpnessAware(torch.optim.Optimizer):
    def __init__(self, params, base, rho=0.05, **settings):
        super().__init__(params, dict(rho=rho, **settings))
        self.base_optimizer = base(self.param_groups, **settings)
        self.param_groups = self.base_optimizer.param_groups
        self.defaults.update(self.base_optimizer.defaults)

    @torch.no_grad()
    def climb(self):
        everyone = [p for group in self.param_groups for p in group["params"]]
        length = torch.norm(torch.stack([p.grad.norm(p=2) for p in everyone]), p=2)
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["before"] = p.data.clone()
                p.add_(p.grad * (group["rho"] / (length + 1e-12)))
        self.zero_grad()

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                p.data = self.state[p]["before"]
        self.base_optimizer.step()
        self.zero_grad()


class Warmup(_LRScheduler):
    def __init__(self, optimizer, steps, last_epoch=-1):
        self.steps = steps
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        share = min(1, (self.last_epoch + 1) / self.steps)
        return [base * share for base in self.base_lrs]


def main():
    draws = Draws()
    model = draws.fill(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)))
    optimizer = SharpnessAware(model.parameters(), torch.optim.SGD, lr=0.1, momentum=0.9)
    schedule = Warmup(optimizer, 3)
    losses, rates = [], []
    for _ in range(5):
        x, y = draws.normal(6, 4), draws.integers(2, 6)
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.climb()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        rates.append(schedule.get_last_lr()[0])
    return {"losses": losses, "rates": rates, "weight": model[0].weight}


if __name__ == "__main__":
    show(main())
