"""Volume rendering along rays: positional encoding, ray grids and compositing, as in NeRF."""

import torch

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


def main(capture=lambda step: step):
    draws = Draws()
    height, width, focal = 3, 4, 2.0
    i, j = torch.meshgrid(
        torch.arange(width, dtype=torch.float32), torch.arange(height, dtype=torch.float32)
    )
    directions = torch.stack(
        [(i.t() - width * 0.5) / focal, -(j.t() - height * 0.5) / focal, -torch.ones_like(i.t())],
        -1,
    )
    pose = torch.eye(4)[:3]
    rays = torch.sum(directions[..., None, :] * pose[:3, :3], -1)
    z = torch.linspace(2.0, 6.0, 8)
    points = rays[..., None, :] * z[..., :, None]
    encoded = torch.cat([f(points * 2.0**k) for k in range(2) for f in (torch.sin, torch.cos)], -1)
    network = torch.nn.Sequential(
        torch.nn.Linear(12, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4)
    )
    draws.fill(network)
    raw = network(encoded)
    sigma, rgb = torch.relu(raw[..., 3]), torch.sigmoid(raw[..., :3])
    gaps = torch.cat([z[1:] - z[:-1], torch.Tensor([1e10])])
    alpha = 1.0 - torch.exp(-sigma * gaps)
    through = torch.cumprod(1.0 - alpha + 1e-10, -1)
    weights = alpha * torch.cat([torch.ones_like(through[..., :1]), through[..., :-1]], -1)
    image = (weights[..., None] * rgb).sum(-2)
    target = draws.normal(height, width, 3)
    loss = torch.mean((image - target) ** 2)
    loss.backward()
    return {"image": image, "depth": (weights * z).sum(-1), "grad": network[0].weight.grad}

if __name__ == "__main__":
    show(main())
