"""Low-rank adapters on frozen layers: trained, merged into the weights, taken out again."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


class LoRALinear(nn.Linear):
    def __init__(self, in_features, out_features, r=2, alpha=4):
        super().__init__(in_features, out_features)
        self.lora_A = nn.Parameter(self.weight.new_zeros((r, in_features)))
        self.lora_B = nn.Parameter(self.weight.new_zeros((out_features, r)))
        self.scaling, self.merged = alpha / r, False
        self.weight.requires_grad = False
        nn.init.kaiming_uniform_(self.lora_A, a=math.sqrt(5))

    def train(self, mode=True):
        nn.Linear.train(self, mode)
        if mode == self.merged:
            sign = -1 if mode else 1
            self.weight.data += sign * (self.lora_B @ self.lora_A) * self.scaling
            self.merged = not mode
        return self

    def forward(self, x):
        result = F.linear(x, self.weight, self.bias)
        if not self.merged:
            result = result + (x @ self.lora_A.T @ self.lora_B.T) * self.scaling
        return result


def main(capture=lambda step: step):
    draws = Draws()
    model = draws.fill(nn.Sequential(LoRALinear(4, 6), nn.GELU(), LoRALinear(6, 2)))
    for name, p in model.named_parameters():
        p.requires_grad = "lora_" in name
    x, y = draws.normal(5, 4), draws.normal(5, 2)
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-2)
    for _ in range(3):
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    open_, before = model(x), model[0].weight.detach().clone()
    model.eval()
    merged = model(x)
    model.train()
    kept = {k: v for k, v in model.state_dict().items() if "lora_" in k}
    return {"loss": loss, "open": open_, "merged": merged, "back": model[0].weight - before,
            "kept": len(kept), "frozen": model[0].weight.grad is None}


if __name__ == "__main__":
    show(main())
