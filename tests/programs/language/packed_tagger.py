"""Tags for sentences of several lengths: packed sequences through a GRU of two directions."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


def main(capture=lambda step: step):
    draws = Draws()
    embedding = draws.fill(nn.Embedding(10, 4, padding_idx=0))
    rnn = draws.fill(nn.GRU(4, 3, bidirectional=True, batch_first=True))
    head = draws.fill(nn.Linear(6, 3))
    sentences = [torch.tensor([1, 2, 3, 4]), torch.tensor([5, 6]), torch.tensor([7, 8, 9])]
    tags = [torch.tensor([0, 1, 2, 1]), torch.tensor([1, 0]), torch.tensor([2, 2, 0])]
    lengths = torch.tensor([len(s) for s in sentences])
    padded = nn.utils.rnn.pad_sequence(sentences, batch_first=True)
    wanted = nn.utils.rnn.pad_sequence(tags, batch_first=True, padding_value=-1)
    parameters = [*embedding.parameters(), *rnn.parameters(), *head.parameters()]
    optimizer = torch.optim.Adagrad(parameters, lr=0.1)
    for _ in range(2):
        packed = nn.utils.rnn.pack_padded_sequence(
            embedding(padded), lengths, batch_first=True, enforce_sorted=False
        )
        output, hidden = rnn(packed)
        output, _ = nn.utils.rnn.pad_packed_sequence(output, batch_first=True)
        scores = head(output)
        loss = F.cross_entropy(scores.transpose(1, 2), wanted, ignore_index=-1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    accuracy = (scores.argmax(-1) == wanted)[wanted >= 0].float().mean()
    return {"loss": loss, "hidden": hidden, "accuracy": accuracy}


if __name__ == "__main__":
    show(main())
