"""A restricted Boltzmann machine, learned by contrastive divergence without a gradient's help."""

import torch
import torch.nn.functional as F

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


def main(capture=lambda step: step):
    draws = Draws()
    W, v_bias, h_bias = draws.normal(5, 12) * 0.1, torch.zeros(12), torch.zeros(5)
    data = draws.uniform(8, 12).lt(0.4).float()
    momentum = torch.zeros_like(W)
    energies = []
    for _ in range(4):
        v = data
        positive = torch.sigmoid(F.linear(v, W, h_bias))
        h = (draws.uniform(8, 5) < positive).float()
        for _ in range(2):
            v_probability = torch.sigmoid(F.linear(h, W.t(), v_bias))
            v = torch.where(draws.uniform(8, 12) < v_probability, 1.0, 0.0)
            h_probability = torch.sigmoid(torch.addmm(h_bias, v, W.t()))
            h = (draws.uniform(8, 5) < h_probability).to(v.dtype)
        gradient = (torch.mm(positive.t(), data) - torch.mm(h_probability.t(), v)) / len(data)
        momentum.mul_(0.5).add_(gradient)
        W += 0.1 * momentum
        v_bias.add_((data - v).mean(0), alpha=0.1)
        h_bias.sub_((h_probability - positive).mean(0), alpha=0.1)
        free = -torch.mv(data, v_bias) - F.softplus(F.linear(data, W, h_bias)).sum(1)
        energies.append(free.mean().item())
    return {"energies": energies, "weights": W, "biases": torch.cat([v_bias, h_bias])}


if __name__ == "__main__":
    show(main())
