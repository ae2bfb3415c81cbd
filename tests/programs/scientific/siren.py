"""A network of sines whose Laplacian is trained to be that of a field."""

import torch

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


def main(capture=lambda step: step):
    draws = Draws()
    first = draws.fill(torch.nn.Linear(2, 8))
    last = draws.fill(torch.nn.Linear(8, 1))

    def laplacian(y, x):
        grad = torch.autograd.grad(y, [x], grad_outputs=torch.ones_like(y), create_graph=True)[0]
        div = 0.0
        for i in range(grad.shape[-1]):
            div += torch.autograd.grad(
                grad[..., i], x, torch.ones_like(grad[..., i]), create_graph=True
            )[0][..., i : i + 1]
        return div

    optimizer = torch.optim.Adam([*first.parameters(), *last.parameters()], lr=1e-3)
    coordinates = torch.cartesian_prod(torch.linspace(-1, 1, 3), torch.linspace(-1, 1, 3))
    losses = []
    for _ in range(2):
        x = coordinates.clone().detach().requires_grad_(True)
        found = laplacian(last(torch.sin(3 * first(x))), x)
        loss = ((found - coordinates.prod(1, keepdim=True)) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return {"losses": losses, "laplacian": found}

if __name__ == "__main__":
    show(main())
