"""A Gaussian process by Cholesky factors: its likelihood trained, its posterior read."""

import torch
import torch.nn as nn

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


class GP(nn.Module):
    def __init__(self):
        super().__init__()
        self.log_length = nn.Parameter(torch.tensor(0.0))
        self.log_noise = nn.Parameter(torch.tensor(-1.0))

    def kernel(self, a, b):
        return torch.exp(-0.5 * torch.cdist(a, b).pow(2) / self.log_length.exp() ** 2)

    def factor(self, x):
        noise = self.log_noise.exp() * torch.eye(len(x), dtype=x.dtype)
        return torch.linalg.cholesky(self.kernel(x, x) + noise)


def main(capture=lambda step: step):
    draws = Draws()
    x = draws.normal(6, 1).double()
    y = torch.sin(2 * x).squeeze()
    model = GP().double()
    optimizer = torch.optim.Rprop(model.parameters(), lr=1e-2)
    for _ in range(3):
        L = model.factor(x)
        alpha = torch.cholesky_solve(y[:, None], L)
        loss = 0.5 * (y @ alpha).squeeze() + L.diagonal().log().sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        L = model.factor(x)
        points = torch.linspace(-1, 1, 3, dtype=torch.float64)[:, None]
        cross = model.kernel(x, points)
        mean = cross.T @ torch.cholesky_solve(y[:, None], L)
        v = torch.linalg.solve_triangular(L, cross, upper=False)
        variance = 1 - (v**2).sum(0)
    return {"loss": loss, "mean": mean, "variance": variance, "length": model.log_length}


if __name__ == "__main__":
    show(main())
