"""A curve fitted by LBFGS with a closure, and its parameters saved to a file object."""

import io

import torch

from tests.programs.drawing import show

TOLERANCE = 1e-4


def main(capture=lambda step: step):
    x = torch.linspace(0, 1, 12)
    y = 2.0 * torch.exp(-3.0 * x) + 0.5
    p = torch.tensor([1.0, -1.0, 0.0], requires_grad=True)
    optimizer = torch.optim.LBFGS([p], lr=0.5, max_iter=6)

    def closure():
        optimizer.zero_grad()
        loss = (p[0] * torch.exp(p[1] * x) + p[2] - y).square().sum()
        loss.backward()
        return loss

    first = optimizer.step(closure)
    file = io.BytesIO()
    torch.save({"p": p.detach(), "epoch": 1}, file)
    file.seek(0)
    kept = torch.load(file, map_location=torch.device("cpu"), weights_only=True)
    return {"first": first, "p": kept["p"], "epoch": kept["epoch"]}

if __name__ == "__main__":
    show(main())
