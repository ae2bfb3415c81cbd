"""An actor and a critic with one body: advantages, smooth losses, saved actions."""

from collections import namedtuple

import torch
import torch.nn as nn
import torch.nn.functional as F

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


SavedAction = namedtuple("SavedAction", ["log_prob", "value"])


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine1 = nn.Linear(4, 8)
        self.action_head, self.value_head = nn.Linear(8, 2), nn.Linear(8, 1)
        self.saved_actions, self.rewards = [], []

    def forward(self, x):
        x = F.relu(self.affine1(x))
        return F.softmax(self.action_head(x), dim=-1), self.value_head(x)


def main(capture=lambda step: step):
    draws = Draws()
    model = draws.fill(Policy())
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-2)
    for t in range(5):
        probs, value = model(draws.normal(4))
        m = torch.distributions.Categorical(probs)
        action = torch.tensor(t % 2)
        model.saved_actions.append(SavedAction(m.log_prob(action), value))
        model.rewards.append(float(t) - 2)
    R, returns = 0, []
    for r in model.rewards[::-1]:
        R = r + 0.9 * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    policy_losses, value_losses = [], []
    for (log_prob, value), R in zip(model.saved_actions, returns, strict=True):
        advantage = R - value.item()
        policy_losses.append(-log_prob * advantage)
        value_losses.append(F.smooth_l1_loss(value, torch.tensor([R])))
    optimizer.zero_grad()
    loss = torch.stack(policy_losses).sum() + torch.stack(value_losses).sum()
    loss.backward()
    optimizer.step()
    del model.rewards[:]
    return {"loss": loss, "weight": model.affine1.weight, "returns": returns}


if __name__ == "__main__":
    show(main())
