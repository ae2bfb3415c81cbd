"""A distribution of returns over atoms, projected onto its support, under a dueling network."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


class Dueling(nn.Module):
    def __init__(self, atoms=5, actions=3):
        super().__init__()
        self.atoms, self.actions = atoms, actions
        self.register_buffer("support", torch.linspace(-2, 2, atoms))
        self.body = nn.Linear(4, 8)
        self.value, self.advantage = nn.Linear(8, atoms), nn.Linear(8, actions * atoms)

    def forward(self, x):
        h = F.relu(self.body(x))
        value = self.value(h).view(-1, 1, self.atoms)
        advantage = self.advantage(h).view(-1, self.actions, self.atoms)
        return F.softmax(value + advantage - advantage.mean(1, keepdim=True), dim=-1)


def main(capture=lambda step: step):
    draws = Draws()
    model = draws.fill(Dueling())
    state, following = draws.normal(4, 4), draws.normal(4, 4)
    action, reward = draws.integers(3, 4), draws.normal(4, 1)
    with torch.no_grad():
        dist = model(following)
        best = (dist * model.support).sum(2).argmax(1)
        next_dist = dist[range(4), best]
        b = (reward + 0.9 * model.support).clamp(-2, 2)
        b = (b + 2) / 1.0
        lower, upper = b.floor().long(), b.ceil().long()
        lower[(upper > 0) & (lower == upper)] -= 1
        upper[(lower < 4) & (lower == upper)] += 1
        offset = torch.linspace(0, 3 * 5, 4).long().unsqueeze(1).expand(4, 5)
        projected = torch.zeros(next_dist.size())
        projected.view(-1).index_add_(
            0, (lower + offset).view(-1), (next_dist * (upper.float() - b)).view(-1)
        )
        projected.view(-1).index_add_(
            0, (upper + offset).view(-1), (next_dist * (b - lower.float())).view(-1)
        )
    log_p = torch.log(model(state)[range(4), action])
    loss = -(projected * log_p).sum(1)
    loss.mean().backward()
    return {"projected": projected, "loss": loss, "grad": model.body.weight.grad}


if __name__ == "__main__":
    show(main())
