"""Windows of an image, shifted and put back, with a table of relative positions."""

import torch

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


def main(capture=lambda step: step):
    draws = Draws()
    size, shift = 2, 1
    x = draws.normal(1, 4, 4, 3)
    coords = torch.stack(torch.meshgrid([torch.arange(size), torch.arange(size)], indexing="ij"))
    flat = torch.flatten(coords, 1)
    relative = (flat[:, :, None] - flat[:, None, :]).permute(1, 2, 0).contiguous()
    relative[:, :, 0] += size - 1
    relative[:, :, 1] += size - 1
    relative[:, :, 0] *= 2 * size - 1
    table = torch.nn.Parameter(torch.zeros((2 * size - 1) * (2 * size - 1), 1))
    draws.fill(torch.nn.ParameterList([table]))
    bias = table[relative.sum(-1).view(-1)].view(size * size, size * size)
    shifted = torch.roll(x, shifts=(-shift, -shift), dims=(1, 2))
    windows = shifted.view(1, 2, size, 2, size, 3).permute(0, 1, 3, 2, 4, 5)
    windows = windows.contiguous().view(-1, size * size, 3)
    attention = torch.softmax(windows @ windows.transpose(-2, -1) + bias, dim=-1)
    merged = (attention @ windows).view(1, 2, 2, size, size, 3).permute(0, 1, 3, 2, 4, 5)
    back = torch.roll(merged.reshape(1, 4, 4, 3), shifts=(shift, shift), dims=(1, 2))
    back.square().sum().backward()
    return {"back": back, "relative": relative.sum(-1), "grad": table.grad}

if __name__ == "__main__":
    show(main())
