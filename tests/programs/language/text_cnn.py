"""Sentences classified by convolutions of several widths and a maximum over time."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


class TextCNN(nn.Module):
    def __init__(self, words, dim, kernels, classes):
        super().__init__()
        self.embed = nn.Embedding(words, dim)
        self.convs = nn.ModuleList([nn.Conv2d(1, 3, (k, dim)) for k in kernels])
        self.fc = nn.Linear(3 * len(kernels), classes)

    def forward(self, x):
        x = self.embed(x).unsqueeze(1)
        x = [F.relu(conv(x)).squeeze(3) for conv in self.convs]
        x = [F.max_pool1d(i, i.size(2)).squeeze(2) for i in x]
        return self.fc(torch.cat(x, 1))


def main(capture=lambda step: step):
    draws = Draws()
    model = draws.fill(TextCNN(12, 4, [2, 3], 3))
    x, y = draws.integers(12, 4, 7), draws.integers(3, 4)
    optimizer = torch.optim.Adadelta(model.parameters(), lr=0.5)

    @capture
    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y, label_smoothing=0.1)
        loss.backward()
        optimizer.step()
        return loss.detach()

    losses = [step(x, y).item() for _ in range(3)]
    return {"losses": losses, "logits": model(x)}


if __name__ == "__main__":
    show(main())
