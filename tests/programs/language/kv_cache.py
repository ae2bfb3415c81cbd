"""Decoding token by token with a cache of keys and values, against the whole sequence at once."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


class Attention(nn.Module):
    def __init__(self, dim, heads, length):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.register_buffer("k_cache", torch.zeros(1, length, heads, dim // heads))
        self.register_buffer("v_cache", torch.zeros(1, length, heads, dim // heads))

    def forward(self, x, position):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.heads, C // self.heads).unbind(2)
        self.k_cache[:, position : position + T] = k
        self.v_cache[:, position : position + T] = v
        keys, values = self.k_cache[:, : position + T], self.v_cache[:, : position + T]
        scores = torch.einsum("bthd,bshd->bhts", q, keys) / (C // self.heads) ** 0.5
        mask = torch.full((T, position + T), float("-inf")).triu(position + 1)
        scores = F.softmax(scores + mask, dim=-1)
        return self.out(torch.einsum("bhts,bshd->bthd", scores, values).reshape(B, T, C))


def main(capture=lambda step: step):
    draws = Draws()
    layer = draws.fill(Attention(8, 2, 8))
    x = draws.normal(1, 6, 8)
    with torch.no_grad():
        whole = layer(x, 0).clone()
        layer.k_cache.zero_()
        parts = [layer(x[:, :3], 0)] + [layer(x[:, i : i + 1], i) for i in range(3, 6)]
        pieces = torch.cat(parts, dim=1)
    return {"whole": whole, "pieces": pieces, "same": torch.allclose(whole, pieces, atol=1e-5)}


if __name__ == "__main__":
    show(main())
