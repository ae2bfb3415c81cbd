"""The likeliest sequences of a recurrent model, by beams that are kept as tensors."""

import torch
import torch.nn.functional as F
from torch import nn

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-5


def main():
    draws = Draws()
    words, width, batch, beams = 12, 8, 2, 3
    table = draws.fill(nn.Embedding(words, width))
    cell = draws.fill(nn.GRUCell(width, width))
    to_words = draws.fill(nn.Linear(width, words))
    with torch.no_grad():
        state = draws.normal(batch, width).unsqueeze(1).repeat(1, beams, 1).view(-1, width)
        sequences = torch.ones(batch, beams, 1, dtype=torch.long)
        scores = torch.zeros(batch, beams)
        scores[:, 1:] = float("-inf")
        for _ in range(5):
            state = cell(table(sequences[:, :, -1].reshape(-1)), state)
            found = F.log_softmax(to_words(state), -1).view(batch, beams, words)
            scores, places = (found + scores.unsqueeze(-1)).view(batch, -1).topk(beams, -1)
            parents = torch.div(places, words, rounding_mode="floor")
            kept = sequences.gather(1, parents.unsqueeze(-1).expand(-1, -1, sequences.size(-1)))
            sequences = torch.cat([kept, (places % words).unsqueeze(-1)], -1)
            rows = torch.arange(batch).unsqueeze(1)
            state = state.view(batch, beams, -1)[rows, parents].reshape(batch * beams, -1)
    lengths = sequences.ne(2).long().cumprod(-1).sum(-1)
    return {"sequences": sequences, "scores": scores / lengths.float() ** 0.7}


if __name__ == "__main__":
    show(main())
