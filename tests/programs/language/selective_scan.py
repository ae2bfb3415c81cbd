"""A state-space layer in the manner of Mamba: steps that depend on the input, scanned in a loop."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


class Mamba(nn.Module):
    def __init__(self, dim=4, state=3):
        super().__init__()
        self.in_proj = nn.Linear(dim, 2 * dim, bias=False)
        self.conv = nn.Conv1d(dim, dim, 3, groups=dim, padding=2)
        self.x_proj = nn.Linear(dim, 1 + 2 * state, bias=False)
        self.dt_proj = nn.Linear(1, dim)
        A = torch.arange(1, state + 1, dtype=torch.float32).repeat(dim, 1)
        self.A_log = nn.Parameter(torch.log(A))
        self.D = nn.Parameter(torch.ones(dim))
        self.out_proj = nn.Linear(dim, dim, bias=False)

    def forward(self, x):
        b, length, d = x.shape
        x, res = self.in_proj(x).split([d, d], dim=-1)
        x = F.silu(self.conv(x.transpose(1, 2))[..., :length].transpose(1, 2))
        delta, B, C = self.x_proj(x).split([1, 3, 3], dim=-1)
        delta = F.softplus(self.dt_proj(delta))
        A = -torch.exp(self.A_log)
        dA = torch.exp(torch.einsum("bld,dn->bldn", delta, A))
        dBx = torch.einsum("bld,bln,bld->bldn", delta, B, x)
        state, ys = torch.zeros(b, d, 3), []
        for i in range(length):
            state = dA[:, i] * state + dBx[:, i]
            ys.append(torch.einsum("bdn,bn->bd", state, C[:, i]))
        y = torch.stack(ys, dim=1) + x * self.D
        return self.out_proj(y * F.silu(res))


def main(capture=lambda step: step):
    draws = Draws()
    model = draws.fill(Mamba())
    x = draws.normal(2, 5, 4)
    out = model(x)
    (out**2).mean().backward()
    return {"out": out, "A": model.A_log.grad, "conv": model.conv.weight.grad}


if __name__ == "__main__":
    show(main())
