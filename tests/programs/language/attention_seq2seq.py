"""Translation with additive attention and teacher forcing, decoded by beams."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


class Decoder(nn.Module):
    def __init__(self, words, hidden):
        super().__init__()
        self.embedding = nn.Embedding(words, hidden)
        self.cell = nn.GRUCell(2 * hidden, hidden)
        self.query, self.key = nn.Linear(hidden, hidden), nn.Linear(hidden, hidden)
        self.energy, self.out = nn.Linear(hidden, 1), nn.Linear(hidden, words)

    def forward(self, token, hidden, memory):
        scores = self.energy(torch.tanh(self.query(hidden).unsqueeze(1) + self.key(memory)))
        weights = F.softmax(scores.squeeze(-1), dim=-1)
        context = torch.bmm(weights.unsqueeze(1), memory).squeeze(1)
        hidden = self.cell(torch.cat((self.embedding(token), context), dim=1), hidden)
        return F.log_softmax(self.out(hidden), dim=1), hidden, weights


def main(capture=lambda step: step):
    draws = Draws()
    encoder = draws.fill(nn.GRU(4, 4, batch_first=True))
    source = draws.fill(nn.Embedding(8, 4))
    decoder = draws.fill(Decoder(8, 4))
    x, y = draws.integers(8, 3, 5), draws.integers(8, 3, 4)
    parameters = [*encoder.parameters(), *source.parameters(), *decoder.parameters()]
    optimizer = torch.optim.Adam(parameters, lr=1e-2)
    criterion = nn.NLLLoss()
    for _ in range(2):
        memory, hidden = encoder(source(x))
        hidden, token, loss = hidden[0], torch.zeros(3, dtype=torch.long), 0
        for t in range(4):
            log_probs, hidden, weights = decoder(token, hidden, memory)
            loss += criterion(log_probs, y[:, t])
            token = y[:, t]
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        memory, hidden = encoder(source(x[:1]))
        beams = [([0], 0.0, hidden[0])]
        for _ in range(3):
            grown = []
            for tokens, score, state in beams:
                log_probs, state, _ = decoder(torch.tensor(tokens[-1:]), state, memory)
                best = log_probs[0].topk(2)
                for value, index in zip(best.values.tolist(), best.indices.tolist(), strict=True):
                    grown.append(([*tokens, index], score + value, state))
            beams = sorted(grown, key=lambda beam: -beam[1])[:2]
    return {"loss": loss, "weights": weights, "best": beams[0][0], "score": beams[0][1]}


if __name__ == "__main__":
    show(main())
