"""Segmentation by a U-Net: pooling, transposed convolutions, skips, a Dice loss."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU())
        self.deep = nn.Sequential(nn.Conv2d(4, 6, 3, padding=1), nn.ReLU())
        self.up = nn.ConvTranspose2d(6, 4, 2, stride=2)
        self.last = nn.Conv2d(8, 1, 1)

    def forward(self, x):
        skip = self.down(x)
        deep = self.deep(F.max_pool2d(skip, 2))
        up = self.up(deep)
        dy, dx = skip.size(2) - up.size(2), skip.size(3) - up.size(3)
        up = F.pad(up, [dx // 2, dx - dx // 2, dy // 2, dy - dy // 2])
        return self.last(torch.cat([skip, up], dim=1))


def dice_loss(logits, target, eps=1e-6):
    probs = torch.sigmoid(logits)
    inter = 2 * (probs * target).sum(dim=(-1, -2))
    sets = probs.sum(dim=(-1, -2)) + target.sum(dim=(-1, -2))
    return 1 - ((inter + eps) / (sets + eps)).mean()


def main(capture=lambda step: step):
    draws = Draws()
    model = draws.fill(UNet())
    x = draws.normal(2, 1, 7, 7)
    mask = (draws.uniform(2, 1, 7, 7) > 0.5).float()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3, momentum=0.9, foreach=True)
    losses = []
    for _ in range(2):
        logits = model(x)
        loss = F.binary_cross_entropy_with_logits(logits, mask) + dice_loss(logits, mask)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return {"losses": losses, "mask": (torch.sigmoid(logits) > 0.5).sum()}


if __name__ == "__main__":
    show(main())
