"""A pointer network: the decoder chooses positions of its input, each of them once."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


class Pointer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.embed = nn.Linear(1, width)
        self.encoder = nn.LSTM(width, width, batch_first=True, bidirectional=True)
        self.join = nn.Linear(2 * width, width)
        self.cell = nn.LSTMCell(width, width)
        self.w1, self.w2 = nn.Linear(2 * width, width, bias=False), nn.Linear(width, width)
        self.v = nn.Linear(width, 1, bias=False)

    def forward(self, numbers, targets=None):
        x = self.embed(numbers.unsqueeze(-1))
        memory, (h, c) = self.encoder(x)
        h, c = [self.join(torch.cat(tuple(s), dim=-1)) for s in (h, c)]
        asked, rows = x.mean(1), torch.arange(len(x))
        free = torch.ones_like(numbers, dtype=torch.bool)
        scores, chosen = [], []
        for t in range(numbers.shape[1]):
            h, c = self.cell(asked, (h, c))
            score = self.v(torch.tanh(self.w1(memory) + self.w2(h).unsqueeze(1))).squeeze(-1)
            score = score.masked_fill(~free, float("-inf"))
            place = score.argmax(-1) if targets is None else targets[:, t]
            free = free.clone()
            free[rows, place] = False
            asked = x[rows, place]
            scores.append(F.log_softmax(score, dim=-1))
            chosen.append(place)
        return torch.stack(scores, 1), torch.stack(chosen, 1)


def main(capture=lambda step: step):
    draws = Draws()
    model = draws.fill(Pointer(6))
    numbers = draws.uniform(5, 4)
    order = numbers.argsort(dim=1)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    losses = []
    for _ in range(3):
        scores, _ = model(numbers, order)
        loss = F.nll_loss(scores.flatten(0, 1), order.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_value_(model.parameters(), 0.5)
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    with torch.inference_mode():
        chosen = model(numbers)[1]
    return {"losses": losses, "chosen": chosen, "each_once": chosen.sort(1).values}


if __name__ == "__main__":
    show(main())
