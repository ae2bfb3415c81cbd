"""Denoising diffusion on points: the noise schedule, a training step, the reverse process."""

import torch

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


def main(capture=lambda step: step):
    draws = Draws()
    nn, F = torch.nn, torch.nn.functional
    steps = 5
    betas = torch.linspace(1e-4, 0.2, steps)
    alphas = 1.0 - betas
    alphas_cumprod = torch.cumprod(alphas, dim=0)
    previous = F.pad(alphas_cumprod[:-1], (1, 0), value=1.0)

    def extract(a, t, shape):
        return a.gather(-1, t).reshape(t.shape[0], *((1,) * (len(shape) - 1)))

    model = draws.fill(nn.Sequential(nn.Linear(3, 16), nn.SiLU(), nn.Linear(16, 2)))
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
    x, noise = draws.normal(10, 2), draws.normal(10, 2)
    t = torch.arange(10) % steps
    noisy = (
        extract(alphas_cumprod.sqrt(), t, x.shape) * x
        + extract((1 - alphas_cumprod).sqrt(), t, x.shape) * noise
    )
    loss = F.smooth_l1_loss(model(torch.cat([noisy, t[:, None] / steps], 1)), noise)
    loss.backward()
    optimizer.step()
    sample = noise.clone()
    variance = betas * (1 - previous) / (1 - alphas_cumprod)
    with torch.inference_mode():
        for i in reversed(range(steps)):
            time = torch.full((10,), i, dtype=torch.long)
            predicted = model(torch.cat((sample, time[:, None] / steps), dim=1))
            scale = extract(betas / torch.sqrt(1 - alphas_cumprod), time, x.shape)
            sample = torch.rsqrt(alphas[i]) * (sample - scale * predicted)
            sample = sample + variance[i].clamp(min=1e-20).sqrt() * 0.5
    return {"loss": loss, "sample": sample, "variance": variance}

if __name__ == "__main__":
    show(main())
