"""Pairs and triplets of images under one network: contrastive and triplet losses."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


def main(capture=lambda step: step):
    draws = Draws()
    model = nn.Sequential(nn.Conv2d(1, 3, 3), nn.PReLU(), nn.MaxPool2d(2), nn.Flatten(),
                          nn.Linear(12, 4))  # fmt: skip
    draws.fill(model)
    anchor, positive, negative = (draws.normal(3, 1, 6, 6) for _ in range(3))
    triplet = nn.TripletMarginLoss(margin=1.0, p=2)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for _ in range(2):
        a, p, n = model(anchor), model(positive), model(negative)
        distance = F.pairwise_distance(a, p)
        label = torch.tensor([1.0, 0.0, 1.0])
        contrastive = torch.mean(
            (1 - label) * distance.pow(2)
            + label * torch.clamp(2.0 - distance, min=0.0).pow(2)
        )
        cosine = F.cosine_embedding_loss(a, n, 2 * label - 1, margin=0.1)
        loss = triplet(a, p, n) + contrastive + cosine
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return {"loss": loss, "distance": distance, "a": a}


if __name__ == "__main__":
    show(main())
