"""A network that solves the heat equation: derivatives of its output in the loss."""

import torch
import torch.nn as nn

from tests.programs.drawing import Draws, show

TOLERANCE = 3e-4


def main(capture=lambda step: step):
    draws = Draws()
    net = draws.fill(nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1)))
    x, t = draws.uniform(6, 1).requires_grad_(), draws.uniform(6, 1).requires_grad_()
    edge = draws.uniform(4, 1)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    for _ in range(2):
        u = net(torch.cat([x, t], dim=1))
        u_x, u_t = torch.autograd.grad(u, (x, t), torch.ones_like(u), create_graph=True)
        u_xx = torch.autograd.grad(u_x, x, torch.ones_like(u_x), create_graph=True)[0]
        residual = u_t - 0.1 * u_xx
        start = net(torch.cat([edge, torch.zeros_like(edge)], 1)) - torch.sin(torch.pi * edge)
        loss = residual.pow(2).mean() + start.pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return {"loss": loss, "residual": residual, "weight": net[0].weight}


if __name__ == "__main__":
    show(main())
