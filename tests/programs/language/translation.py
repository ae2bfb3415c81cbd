"""A sequence model with padding: packed GRU states, teacher forcing, masked losses."""

import torch

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


def main(capture=lambda step: step):
    draws = Draws()
    nn, F = torch.nn, torch.nn.functional
    from_words, to_words, width = 7, 6, 5
    embed, encoder = nn.Embedding(from_words, width), nn.GRU(width, width, batch_first=True)
    embed_out, cell = nn.Embedding(to_words, width), nn.GRUCell(width, width)
    out = nn.Linear(width, to_words)
    for part in (embed, encoder, embed_out, cell, out):
        draws.fill(part)
    sources = [torch.tensor([1, 2, 3]), torch.tensor([4, 5])]
    padded = nn.utils.rnn.pad_sequence(sources, batch_first=True)
    lengths = torch.tensor([len(each) for each in sources])
    packed = nn.utils.rnn.pack_padded_sequence(
        embed(padded), lengths, batch_first=True, enforce_sorted=False
    )
    _, hidden = encoder(packed)
    targets = torch.tensor([[1, 2, 5], [3, 5, 0]])
    state, word = hidden.squeeze(0), torch.zeros(2, dtype=torch.long)
    loss = 0.0
    for t in range(3):
        state = cell(embed_out(word), state)
        loss = loss + F.cross_entropy(out(state), targets[:, t], ignore_index=0)
        word = targets[:, t]
    loss.backward()
    return {"loss": loss, "state": state, "grad": encoder.weight_hh_l0.grad}

if __name__ == "__main__":
    show(main())
