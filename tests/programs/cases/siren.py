"""A network of sines whose Laplacian is trained to be that of a field."""

from __future__ import annotations

from typing import Any

from tests.programs.cases import fill

TOLERANCE = 1e-4


def main(torch: Any, random: Any) -> dict[str, Any]:
    first = fill(torch, torch.nn.Linear(2, 8), random)
    last = fill(torch, torch.nn.Linear(8, 1), random)

    def laplacian(y: Any, x: Any) -> Any:
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
