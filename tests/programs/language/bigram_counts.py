"""Counting pairs of characters, and the same model as one layer trained by gradients."""

import itertools

import torch
import torch.nn.functional as F

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


def main(capture=lambda step: step):
    names = ["emma", "olivia", "ava", "mia", "noah"]
    chars = sorted(set("".join(names)))
    stoi = {s: i + 1 for i, s in enumerate(chars)}
    stoi["."] = 0
    size = len(stoi)
    counts = torch.zeros((size, size), dtype=torch.int32)
    xs, ys = [], []
    for name in names:
        chs = [".", *name, "."]
        for ch1, ch2 in itertools.pairwise(chs):
            counts[stoi[ch1], stoi[ch2]] += 1
            xs.append(stoi[ch1])
            ys.append(stoi[ch2])
    p = (counts + 1).float()
    p /= p.sum(1, keepdims=True)
    xs, ys = torch.tensor(xs), torch.tensor(ys)
    weights = Draws().normal(size, size).requires_grad_()
    for _ in range(3):
        logits = F.one_hot(xs, num_classes=size).float() @ weights
        counted = logits.exp()
        probs = counted / counted.sum(1, keepdims=True)
        loss = -probs[torch.arange(len(ys)), ys].log().mean() + 0.01 * (weights**2).mean()
        weights.grad = None
        loss.backward()
        weights.data += -10 * weights.grad
    return {"p": p, "loss": loss, "nll": -p[xs, ys].log().mean(), "weights": weights}


if __name__ == "__main__":
    show(main())
