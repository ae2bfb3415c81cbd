"""Masked convolutions that see only what came before, trained and read pixel by pixel."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


class MaskedConv2d(nn.Conv2d):
    def __init__(self, mask_type, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.register_buffer("mask", self.weight.data.clone())
        _, _, kh, kw = self.weight.size()
        self.mask.fill_(1)
        self.mask[:, :, kh // 2, kw // 2 + (mask_type == "B") :] = 0
        self.mask[:, :, kh // 2 + 1 :] = 0

    def forward(self, x):
        self.weight.data *= self.mask
        return super().forward(x)


def main(capture=lambda step: step):
    draws = Draws()
    model = nn.Sequential(MaskedConv2d("A", 1, 4, 3, padding=1), nn.ReLU(),
                          MaskedConv2d("B", 4, 3, 3, padding=1))  # fmt: skip
    draws.fill(model)
    x = draws.integers(3, 2, 1, 4, 4)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(2):
        logits = model(x.float() / 2)
        loss = F.cross_entropy(logits, x[:, 0])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    sample = torch.zeros(1, 1, 2, 2)
    with torch.no_grad():
        for i in range(2):
            for j in range(2):
                sample[:, :, i, j] = model(sample)[:, :, i, j].argmax(1, keepdim=True) / 2.0
    return {"loss": loss, "sample": sample, "hidden": model[0].mask}


if __name__ == "__main__":
    show(main())
