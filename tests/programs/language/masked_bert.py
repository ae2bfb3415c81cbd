"""Masked words predicted by an encoder of transformer layers, with padding."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


class Bert(nn.Module):
    def __init__(self, words, dim):
        super().__init__()
        self.token = nn.Embedding(words, dim, padding_idx=0)
        self.position = nn.Embedding(8, dim)
        self.segment = nn.Embedding(2, dim)
        layer = nn.TransformerEncoderLayer(
            dim, 2, 16, dropout=0.0, activation="gelu", batch_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(dim, eps=1e-12)
        self.head = nn.Linear(dim, words)
        self.head.weight = self.token.weight

    def forward(self, ids, segments):
        pad = ids.eq(0)
        x = self.token(ids) + self.position.weight[: ids.size(1)] + self.segment(segments)
        return self.head(self.encoder(self.norm(x), src_key_padding_mask=pad))


def main(capture=lambda step: step):
    draws = Draws()
    model = draws.fill(Bert(11, 8))
    ids = draws.integers(9, 2, 6) + 2
    ids[1, 4:] = 0
    labels = torch.full_like(ids, -100)
    labels[:, 1] = ids[:, 1]
    masked = ids.masked_fill(labels != -100, 1)
    segments = (torch.arange(6) > 2).long().expand(2, 6)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    losses = []
    for _ in range(2):
        optimizer.zero_grad()
        logits = model(masked, segments)
        loss = F.cross_entropy(logits.view(-1, 11), labels.view(-1))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return {"losses": losses, "logits": logits[0], "grad": model.token.weight.grad[1]}


if __name__ == "__main__":
    show(main())
