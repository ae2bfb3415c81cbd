"""Two views of a batch are embedded alike, feature by feature; a slow copy follows the network."""

import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

from tests.programs.drawing import Draws, show

TOLERANCE = 2e-4


def off_diagonal(x):
    n, _ = x.shape
    return x.flatten()[:-1].view(n - 1, n + 1)[:, 1:].flatten()


def main(capture=lambda step: step):
    draws = Draws()
    net = draws.fill(nn.Sequential(
        nn.Conv2d(3, 6, 3, stride=2, bias=False), nn.BatchNorm2d(6), nn.ReLU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(6, 8),
    ))
    whiten = nn.BatchNorm1d(8, affine=False)
    slow = copy.deepcopy(net)
    for p in slow.parameters():
        p.requires_grad = False
    images = draws.normal(6, 3, 10, 10)
    views = images.flip(-1), images + 0.3 * draws.normal(6, 3, 10, 10)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
    losses, targets = [], []
    for _ in range(3):
        first, second = net(views[0]), net(views[1])
        c = whiten(first).T @ whiten(second) / len(images)
        loss = (torch.diagonal(c) - 1).pow(2).sum() + 5e-3 * off_diagonal(c).pow_(2).sum()
        with torch.no_grad():
            aim = F.normalize(slow(views[0]), dim=-1)
        loss = loss + (2 - 2 * (F.normalize(second, dim=-1) * aim).sum(-1)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for own, other in zip(slow.parameters(), net.parameters(), strict=True):
                own.mul_(0.9).add_(other, alpha=0.1)
        losses.append(loss.item())
        targets.append(aim.sum().item())
    return {"losses": losses, "targets": targets, "mean": whiten.running_mean}


if __name__ == "__main__":
    show(main())
