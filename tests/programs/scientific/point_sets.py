"""Sets of points: features that no order changes, farthest points, nearest neighbours, Chamfer."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


class PointNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.each = nn.Sequential(
            nn.Conv1d(3, 8, 1), nn.BatchNorm1d(8), nn.ReLU(), nn.Conv1d(8, 12, 1)
        )
        self.turn = nn.Linear(12, 9)
        self.head = nn.Linear(24, 4)

    def forward(self, x):
        turned = self.turn(self.each(x.mT).amax(2)).view(-1, 3, 3) + torch.eye(3)
        features = self.each(torch.bmm(x, turned).transpose(2, 1))
        pooled = torch.cat([features.max(dim=2)[0], features.mean(dim=2)], 1)
        return self.head(pooled), turned


def farthest(x, count):
    chosen = torch.zeros(len(x), count, dtype=torch.long)
    distance = torch.full(x.shape[:2], float("inf"))
    rows, at = torch.arange(len(x)), torch.zeros(len(x), dtype=torch.long)
    for k in range(count):
        chosen[:, k] = at
        new = (x - x[rows, at].unsqueeze(1)).square().sum(-1)
        distance = torch.minimum(distance, new)
        at = distance.max(-1).indices
    return chosen


def main(capture=lambda step: step):
    draws = Draws()
    net = draws.fill(PointNet())
    x, y = draws.normal(4, 14, 3), draws.integers(4, 4)
    optimizer = torch.optim.NAdam(net.parameters(), lr=5e-3)
    losses = []
    for _ in range(3):
        logits, turned = net(x)
        square = torch.baddbmm(torch.eye(3), turned, turned.mT, beta=-1)
        loss = F.cross_entropy(logits, y) + 1e-3 * torch.linalg.matrix_norm(square).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    net.eval()
    with torch.no_grad():
        again = net(x[:, torch.arange(13, -1, -1)])[0] - net(x)[0]
    chosen = farthest(x, 5)
    few = torch.gather(x, 1, chosen[..., None].expand(-1, -1, 3))
    apart = torch.cdist(few, x)
    near = apart.topk(3, dim=-1, largest=False)
    chamfer = apart.min(1).values.mean() + apart.min(2).values.mean()
    return {"losses": losses, "unmoved": again.abs().max() < 1e-4, "chosen": chosen,
            "near": near.values, "chamfer": chamfer}


if __name__ == "__main__":
    show(main())
