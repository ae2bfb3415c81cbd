"""Attention with biases by bucketed distance, as T5 has them, and ALiBi slopes beside it."""

import math

import torch
import torch.nn as nn

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


def bucket(relative, buckets=8, furthest=16):
    half = buckets // 2
    result = (relative > 0).to(torch.long) * half
    n = torch.abs(relative)
    exact = half // 2
    large = exact + (
        torch.log(n.float() / exact) / math.log(furthest / exact) * (half - exact)
    ).to(torch.long)
    large = torch.min(large, torch.full_like(large, half - 1))
    return result + torch.where(n < exact, n, large)


def main(capture=lambda step: step):
    draws = Draws()
    table = draws.fill(nn.Embedding(8, 2))
    q, k, v = (draws.normal(1, 2, 9, 4) for _ in range(3))
    context, memory = torch.arange(9)[:, None], torch.arange(9)[None, :]
    positions = bucket(memory - context)
    bias = table(positions).permute([2, 0, 1]).unsqueeze(0)
    weights = nn.functional.softmax((q @ k.transpose(3, 2) + bias).float(), dim=-1).type_as(q)
    out = (weights @ v).transpose(1, 2).contiguous().view(1, -1, 8)
    out.square().sum().backward()
    slopes = torch.tensor([2 ** -(8 / 2 * (i + 1)) for i in range(2)])
    alibi = slopes.view(2, 1, 1) * (memory - context).clamp(max=0)
    return {"positions": positions, "out": out, "grad": table.weight.grad, "alibi": alibi}


if __name__ == "__main__":
    show(main())
