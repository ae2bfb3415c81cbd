"""Two generators that undo each other, reflected padding, instance norms, a pool of old images."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from tests.programs.drawing import Draws, show

TOLERANCE = 3e-4


def make_generator():
    return nn.Sequential(nn.ReflectionPad2d(1), nn.Conv2d(2, 4, 3), nn.InstanceNorm2d(4),
                         nn.ReLU(True), nn.Conv2d(4, 2, 3, padding=1), nn.Tanh())  # fmt: skip


def main(capture=lambda step: step):
    draws = Draws()
    g, f = draws.fill(make_generator()), draws.fill(make_generator())
    critic = draws.fill(nn.Sequential(nn.Conv2d(2, 4, 4, 2, 1), nn.LeakyReLU(0.2, True),
                                      nn.Conv2d(4, 1, 3)))  # fmt: skip
    a, b, pool = draws.normal(2, 2, 6, 6), draws.normal(2, 2, 6, 6), []
    optimizer = torch.optim.Adam([*g.parameters(), *f.parameters()], lr=2e-3, betas=(0.5, 0.999))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda e: 1.0 - max(0, e - 1) / 4)
    for _ in range(2):
        fake = g(a)
        for p in critic.parameters():
            p.requires_grad = False
        verdict = critic(fake)
        loss = F.mse_loss(verdict, torch.tensor(1.0).expand_as(verdict))
        loss = loss + 10 * F.l1_loss(f(fake), a) + 5 * F.l1_loss(g(b), b)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        pool.append(fake.detach())
    old = torch.cat(pool, 0)[[0, 2]]
    return {"loss": loss, "old": old, "rate": schedule.get_last_lr()}


if __name__ == "__main__":
    show(main())
