"""Learning to learn: a gradient through a step of gradient descent, as in MAML."""

import torch

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


def main(capture=lambda step: step):
    draws = Draws()
    F = torch.nn.functional
    weights = [
        (draws.normal(*shape) * 0.5).requires_grad_() for shape in ((6, 1), (6,), (1, 6))
    ]

    def forward(x, w):
        return F.linear(torch.sin(F.linear(x, w[0], w[1])), w[2])

    optimizer = torch.optim.SGD(weights, lr=0.05, momentum=0.9)
    losses = []
    for task in range(3):
        x = draws.normal(5, 1)
        y = torch.sin(x + task)
        inner = F.mse_loss(forward(x, weights), y)
        grads = torch.autograd.grad(inner, weights, create_graph=True)
        fast = [w - 0.1 * g for w, g in zip(weights, grads, strict=True)]
        outer = F.mse_loss(forward(x * 0.5, fast), torch.sin(x * 0.5 + task))
        optimizer.zero_grad()
        outer.backward()
        optimizer.step()
        losses.append(outer.item())
    return {"losses": losses, "weights": weights[0]}

if __name__ == "__main__":
    show(main())
