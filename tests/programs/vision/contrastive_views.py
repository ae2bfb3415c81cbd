"""Two views of each image: normalized temperature-scaled cross-entropy, and momentum encoders."""

import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


def nt_xent(z1, z2, temperature=0.5):
    z = F.normalize(torch.cat([z1, z2]), dim=1)
    similarity = z @ z.T / temperature
    n = z1.shape[0]
    similarity = similarity.masked_fill(torch.eye(2 * n, dtype=torch.bool), float("-inf"))
    targets = torch.cat([torch.arange(n, 2 * n), torch.arange(n)])
    return F.cross_entropy(similarity, targets)


@torch.no_grad()
def momentum_update(encoder, target, m=0.99):
    for p, q in zip(encoder.parameters(), target.parameters(), strict=True):
        q.data = q.data * m + p.data * (1.0 - m)


def main(capture=lambda step: step):
    draws = Draws()
    encoder = draws.fill(nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(),
                                       nn.Linear(8, 4)))  # fmt: skip
    target = copy.deepcopy(encoder)
    for p in target.parameters():
        p.requires_grad = False
    optimizer = torch.optim.SGD(encoder.parameters(), lr=0.1)
    x = draws.normal(5, 6)
    queue, pointer = F.normalize(draws.normal(4, 10), dim=0), 0
    for _ in range(2):
        one, other = x + 0.1 * draws.normal(5, 6), x + 0.1 * draws.normal(5, 6)
        loss = nt_xent(encoder(one), encoder(other))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        momentum_update(encoder, target)
        keys = F.normalize(target(x), dim=1)
        queue[:, pointer : pointer + 5] = keys.T
        pointer = (pointer + 5) % 10
    return {"loss": loss, "queue": queue, "pointer": pointer, "target": target[0].weight}


if __name__ == "__main__":
    show(main())
