"""Wasserstein critics with a penalty on the norm of gradients, which is differentiated again."""

import torch
import torch.nn as nn

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


def main(capture=lambda step: step):
    draws = Draws()
    generator = draws.fill(nn.Sequential(nn.Linear(3, 8), nn.LeakyReLU(0.2), nn.Linear(8, 4)))
    critic = draws.fill(nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1)))
    optimizer = torch.optim.Adam(critic.parameters(), lr=1e-2, betas=(0.0, 0.9))
    g_optimizer = torch.optim.Adam(generator.parameters(), lr=1e-2, betas=(0.0, 0.9))
    for _ in range(2):
        real, noise, alpha = draws.normal(5, 4), draws.normal(5, 3), draws.uniform(5, 1)
        fake = generator(noise).detach()
        mixed = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
        scores = critic(mixed)
        gradients = torch.autograd.grad(
            outputs=scores, inputs=mixed, grad_outputs=torch.ones_like(scores),
            create_graph=True, retain_graph=True,
        )[0]  # fmt: skip
        penalty = ((gradients.norm(2, dim=1) - 1) ** 2).mean()
        loss = critic(fake).mean() - critic(real).mean() + 10 * penalty
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        g_optimizer.zero_grad()
        g_loss = -critic(generator(noise)).mean()
        g_loss.backward()
        g_optimizer.step()
    return {"loss": loss, "penalty": penalty, "g_loss": g_loss, "weight": critic[0].weight}


if __name__ == "__main__":
    show(main())
