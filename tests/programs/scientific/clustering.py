"""Clusters by Lloyd: distances, assignments, means by index; and principal axes."""

import torch
import torch.nn.functional as F

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-3


def main(capture=lambda step: step):
    draws = Draws()
    x = draws.normal(20, 3) + 2 * draws.integers(3, 20, 1).float()
    centres = x[:3].clone()
    for _ in range(4):
        labels = torch.cdist(x, centres).argmin(dim=1)
        sums = torch.zeros_like(centres).index_add_(0, labels, x)
        counts = torch.bincount(labels, minlength=3).clamp(min=1)
        centres = sums / counts.unsqueeze(1)
    mask = F.one_hot(labels, 3).bool()
    spread = torch.stack([x[mask[:, k]].var(dim=0, unbiased=False) for k in range(3)])
    centred = x - x.mean(dim=0, keepdim=True)
    values = torch.linalg.eigvalsh(centred.T @ centred / 19)
    singular = torch.linalg.svdvals(centred)
    rank = torch.linalg.matrix_rank(centred)
    return {"labels": labels, "centres": centres, "spread": spread, "values": values,
            "singular": singular, "rank": rank}


if __name__ == "__main__":
    show(main())
