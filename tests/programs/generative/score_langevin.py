"""A score learned by denoising at several scales, and samples by annealed steps."""

import torch
import torch.nn as nn

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


def main(capture=lambda step: step):
    draws = Draws()
    sigmas = torch.exp(torch.linspace(0.0, -2.0, 3))
    model = draws.fill(nn.Sequential(nn.Linear(3, 12), nn.Softplus(), nn.Linear(12, 2)))

    def score(x, sigma):
        return model(torch.cat([x, sigma.expand(x.shape[0], 1)], dim=1)) / sigma

    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3, amsgrad=True)
    x = draws.normal(10, 2)
    for _ in range(2):
        used = sigmas[torch.arange(10) % 3].unsqueeze(1)
        noise = draws.normal(10, 2)
        moved = x + used * noise
        predicted = model(torch.cat([moved, used], 1)) / used
        loss = 0.5 * ((predicted + noise / used) ** 2 * used**2).sum(-1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    sample = draws.normal(4, 2)
    with torch.inference_mode():
        for sigma in sigmas:
            size = 0.01 * (sigma / sigmas[-1]) ** 2
            for _ in range(2):
                sample = sample + size / 2 * score(sample, sigma) + size**0.5 * draws.normal(4, 2)
    return {"loss": loss, "sample": sample}


if __name__ == "__main__":
    show(main())
