"""A character model of LSTM cells: truncated backpropagation, then sampling from its state."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


class CharRNN(nn.Module):
    def __init__(self, words, hidden):
        super().__init__()
        self.encoder = nn.Embedding(words, hidden)
        self.rnn = nn.LSTM(hidden, hidden, num_layers=2, batch_first=True)
        self.decoder = nn.Linear(hidden, words)

    def forward(self, x, state=None):
        output, state = self.rnn(self.encoder(x), state)
        return self.decoder(output), state


def main(capture=lambda step: step):
    draws = Draws()
    model = draws.fill(CharRNN(7, 5))
    text = draws.integers(7, 2, 13)
    optimizer = torch.optim.RMSprop(model.parameters(), lr=5e-3)
    state, losses = None, []
    for start in range(0, 12, 4):
        x, y = text[:, start : start + 4], text[:, start + 1 : start + 5]
        if state is not None:
            state = tuple(part.detach() for part in state)
        logits, state = model(x, state)
        loss = F.cross_entropy(logits.reshape(-1, 7), y.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    token, state, said = torch.tensor([[3]]), None, []
    with torch.no_grad():
        for _ in range(5):
            logits, state = model(token, state)
            token = logits[:, -1].argmax(-1, keepdim=True)
            said.append(token.item())
    return {"losses": losses, "said": said, "hidden": state[0]}


if __name__ == "__main__":
    show(main())
