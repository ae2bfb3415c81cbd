"""Skip-gram with negative samples, and the nearest words by cosine."""

import torch

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


def main(capture=lambda step: step):
    draws = Draws()
    F = torch.nn.functional
    words = torch.nn.Embedding(9, 4)
    contexts = torch.nn.Embedding(9, 4)
    draws.fill(words)
    draws.fill(contexts)
    optimizer = torch.optim.Adagrad([*words.parameters(), *contexts.parameters()], lr=0.1)
    center = draws.integers(9, 6)
    near = draws.integers(9, 6)
    negative = draws.integers(9, 6, 3)
    for _ in range(3):
        v = words(center)
        positive = F.logsigmoid(torch.sum(v * contexts(near), dim=1))
        wrong = F.logsigmoid(-torch.bmm(contexts(negative), v.unsqueeze(2)).squeeze(2)).sum(1)
        loss = -(positive + wrong).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    similar = F.cosine_similarity(words.weight[0].unsqueeze(0), words.weight, dim=1)
    values, indices = similar.topk(3)
    return {"loss": loss, "values": values, "indices": indices}

if __name__ == "__main__":
    show(main())
