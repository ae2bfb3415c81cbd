"""Patches of images as words, a class token, attention without batches first; captured."""

import torch
import torch.nn as nn

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


class ViT(nn.Module):
    def __init__(self, dim=8, classes=4):
        super().__init__()
        self.patch = nn.Conv2d(3, dim, 4, stride=4)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, dim))
        self.pos_embed = nn.Parameter(torch.zeros(1, 5, dim))
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = nn.MultiheadAttention(dim, 2, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(dim, 16), nn.GELU(), nn.Dropout(0.0), nn.Linear(16, dim))
        self.head = nn.Linear(dim, classes)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat((self.cls_token.expand(x.shape[0], -1, -1), x), dim=1) + self.pos_embed
        h = self.norm1(x)
        x = x + self.attn(h, h, h, need_weights=False)[0]
        x = x + self.mlp(self.norm2(x))
        return self.head(x[:, 0])


def main(capture=lambda step: step):
    draws = Draws()
    model = draws.fill(ViT())
    x, y = draws.normal(3, 3, 8, 8), draws.integers(4, 3)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 4)

    @capture
    def step(x, y):
        optimizer.zero_grad()
        loss = nn.CrossEntropyLoss()(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.detach()

    losses = []
    for _ in range(3):
        losses.append(step(x, y).item())
        schedule.step()
    return {"losses": losses, "rate": schedule.get_last_lr(), "logits": model(x)}


if __name__ == "__main__":
    show(main())
