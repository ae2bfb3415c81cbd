"""MADE: one network gives all conditional densities, since its weights are masked."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


class MaskedLinear(nn.Linear):
    def __init__(self, inputs, outputs, mask):
        super().__init__(inputs, outputs)
        self.register_buffer("mask", mask)

    def forward(self, x):
        return F.linear(x, self.weight * self.mask, self.bias)


def main(capture=lambda step: step):
    draws = Draws()
    order, inner = torch.arange(1, 6), torch.arange(10) % 4 + 1
    first = (inner[:, None] >= order[None, :]).float()
    last = (order[:, None] > inner[None, :]).float().repeat(2, 1)
    layers = MaskedLinear(5, 10, first), nn.ELU(), MaskedLinear(10, 10, last)
    net = draws.fill(nn.Sequential(*layers))
    x = draws.normal(12, 5).cumsum(1)
    optimizer = torch.optim.Adamax(net.parameters(), lr=5e-3)

    @capture
    def step(x):
        mean, log_scale = net(x).chunk(2, dim=1)
        log_scale = log_scale.clamp(-3, 3)
        density = torch.distributions.Normal(mean, log_scale.exp()).log_prob(x)
        loss = -density.sum(1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.detach()

    losses = [step(x).item() for _ in range(3)]
    drawn, noise = torch.zeros(4, 5), draws.normal(4, 5)
    with torch.no_grad():
        for i in range(5):
            mean, log_scale = net(drawn).chunk(2, dim=1)
            drawn[:, i] = mean[:, i] + noise[:, i] * log_scale[:, i].exp()
    jacobian = torch.autograd.functional.jacobian(lambda v: net(v[None])[0, :5], x[0])
    return {"losses": losses, "drawn": drawn, "depends": (jacobian != 0).int(),
            "names": " ".join(net.state_dict())}


if __name__ == "__main__":
    show(main())
