"""A language model with an adaptive softmax, and an embedding of which few rows are changed."""

import torch
import torch.nn as nn

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


def main(capture=lambda step: step):
    draws = Draws()
    table = draws.fill(nn.Embedding(40, 16, sparse=True))
    body = draws.fill(nn.GRU(16, 16, batch_first=True))
    head = draws.fill(nn.AdaptiveLogSoftmaxWithLoss(16, 40, cutoffs=[6, 20], div_value=2.0))
    words = draws.integers(40, 4, 7)
    rows = torch.optim.SparseAdam(table.parameters(), lr=1e-2)
    rest = torch.optim.Adam([*body.parameters(), *head.parameters()], lr=1e-2)
    before = table.weight.detach().clone()
    losses = []
    for _ in range(3):
        rows.zero_grad()
        rest.zero_grad()
        hidden, _ = body(table(words[:, :-1]))
        output, loss = head(hidden.reshape(-1, 16), words[:, 1:].reshape(-1))
        loss.backward()
        rows.step()
        rest.step()
        losses.append(loss.item())
    with torch.no_grad():
        last = body(table(words))[0][:, -1]
        likely = head.log_prob(last)
    return {"losses": losses, "output": output, "likely": likely, "best": head.predict(last),
            "moved": (table.weight != before).any(1)}


if __name__ == "__main__":
    show(main())
