"""A convolutional LSTM watches frames and predicts those that follow."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


class ConvLSTMCell(nn.Module):
    def __init__(self, channels, hidden):
        super().__init__()
        self.hidden = hidden
        self.gates = nn.Conv2d(channels + hidden, 4 * hidden, 3, padding="same")

    def forward(self, x, state):
        if state is None:
            zeros = x.new_zeros(x.size(0), self.hidden, *x.shape[-2:])
            state = zeros, zeros
        h, c = state
        i, f, o, g = self.gates(torch.cat((x, h), 1)).chunk(4, dim=1)
        c = torch.sigmoid(f + 1.0) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        return h, (h, c)


def main(capture=lambda step: step):
    draws = Draws()
    cell, head = draws.fill(ConvLSTMCell(1, 4), 0.2), draws.fill(nn.Conv2d(4, 1, 1))
    frames = torch.zeros(6, 2, 1, 8, 8)
    for t in range(6):
        frames[t, 0, 0, t : t + 2, 1:3] = 1.0
        frames[t, 1, 0, 3:5, 6 - t : 8 - t] = 1.0
    parameters = [*cell.parameters(), *head.parameters()]
    optimizer = torch.optim.RMSprop(parameters, lr=1e-2)
    losses = []
    for _ in range(3):
        state, loss = None, 0.0
        for t in range(3):
            h, state = cell(frames[t], state)
        for t in range(3, 6):
            shown = head(h)
            loss = loss + F.binary_cross_entropy_with_logits(shown, frames[t])
            h, state = cell(shown.sigmoid(), state)
        optimizer.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(parameters, 0.5)
        optimizer.step()
        losses += [loss.item(), norm.item()]
    return {"losses": losses, "shown": shown}


if __name__ == "__main__":
    show(main())
