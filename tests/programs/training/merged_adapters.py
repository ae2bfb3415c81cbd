"""Layers that are adapted by small products, which eval() adds to their weights and train() takes
away again."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


class Adapted(nn.Linear):
    def __init__(self, inputs, outputs, rank, alpha=4):
        nn.Linear.__init__(self, inputs, outputs)
        self.merged, self.scaling = False, alpha / rank
        self.lora_a = nn.Parameter(self.weight.new_zeros((rank, inputs)))
        self.lora_b = nn.Parameter(self.weight.new_zeros((outputs, rank)))
        self.weight.requires_grad = False
        self.reset_parameters()

    def reset_parameters(self):
        nn.Linear.reset_parameters(self)
        if hasattr(self, "lora_a"):
            nn.init.kaiming_uniform_(self.lora_a, a=math.sqrt(5))
            nn.init.zeros_(self.lora_b)

    def train(self, mode=True):
        nn.Linear.train(self, mode)
        if mode == self.merged:
            sign = -1 if mode else 1
            self.weight.data += sign * (self.lora_b @ self.lora_a) * self.scaling
            self.merged = not mode
        return self

    def forward(self, x):
        out = F.linear(x, self.weight, self.bias)
        return out if self.merged else out + (x @ self.lora_a.T @ self.lora_b.T) * self.scaling


def main():
    draws = Draws()
    model = draws.fill(nn.Sequential(Adapted(8, 16, 2), nn.ReLU(), Adapted(16, 3, 2)))
    for name, parameter in model.named_parameters():
        parameter.requires_grad = "lora_" in name
    trained = filter(lambda p: p.requires_grad, model.parameters())
    optimizer = torch.optim.AdamW(trained, lr=1e-2)
    losses = []
    for _ in range(4):
        loss = F.cross_entropy(model(draws.normal(6, 8)), draws.integers(3, 6))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    x = draws.normal(2, 8)
    apart = model(x)
    model.eval()
    merged, weight = model(x), model[0].weight.clone()
    model.train()
    return {
        "losses": losses, "apart": apart, "merged": merged, "weight": weight, "again": model(x),
    }  # fmt: skip


if __name__ == "__main__":
    show(main())
