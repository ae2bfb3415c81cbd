"""Retention: attention that decays, at once for a text or step by step with a state."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


class Retention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.gate, self.out = nn.Linear(width, width), nn.Linear(width, width)
        self.norm = nn.GroupNorm(heads, width)
        gamma = 1 - torch.exp(torch.linspace(math.log(1 / 4), math.log(1 / 32), heads))
        self.register_buffer("gamma", gamma, persistent=False)

    def parts(self, x):
        b, t, _ = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
        return q, k * k.size(-1) ** -0.5, v

    def finish(self, x, kept):
        flat = kept.transpose(1, 2).flatten(2)
        normed = self.norm(flat.flatten(0, 1)).view_as(flat)
        return self.out(F.silu(self.gate(x)) * normed)

    def forward(self, x):
        q, k, v = self.parts(x)
        t = torch.arange(x.size(1))
        away = (t[:, None] - t[None, :]).float()
        decay = self.gamma[:, None, None] ** away.clamp(min=0)
        decay = torch.tril(decay)
        return self.finish(x, (q @ k.transpose(-1, -2) * decay) @ v)

    def step(self, x, state):
        q, k, v = self.parts(x)
        state = state * self.gamma[None, :, None, None] + k.transpose(-1, -2) @ v
        return self.finish(x, q @ state), state


def main(capture=lambda step: step):
    draws = Draws()
    embed, layer, head = [
        draws.fill(m) for m in (nn.Embedding(11, 8), Retention(8, 2), nn.Linear(8, 11))
    ]
    tokens = draws.integers(11, 3, 9)
    parameters = [p for m in (embed, layer, head) for p in m.parameters()]
    optimizer = torch.optim.AdamW(parameters, lr=3e-3)

    @capture
    def step(tokens):
        x = embed(tokens[:, :-1])
        logits = head(x + layer(x))
        loss = F.cross_entropy(logits.transpose(1, 2), tokens[:, 1:], label_smoothing=0.1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.detach()

    losses = [step(tokens).item() for _ in range(3)]
    with torch.no_grad():
        x = embed(tokens)
        whole, state, parts = layer(x), torch.zeros(3, 2, 4, 4), []
        for each in x.split(1, dim=1):
            part, state = layer.step(each, state)
            parts.append(part)
    return {"losses": losses, "whole": whole, "stepped": torch.cat(parts, dim=1)}


if __name__ == "__main__":
    show(main())
