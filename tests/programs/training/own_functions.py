"""Functions with a backward of their own: a sign that lets gradients through, a fused loss."""

import torch
import torch.nn as nn

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


class BinaryActivation(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.sign(x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        grad_input = grad_output.clone()
        grad_input[x.abs() > 1] = 0
        return grad_input


class ScaledLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y, scale):
        ctx.save_for_backward(x, y)
        ctx.scale = scale
        return ((x - y) ** 2).mean() * scale

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        gradient = 2 * (x - y) / x.numel() * ctx.scale * grad_output
        return gradient, -gradient if ctx.needs_input_grad[1] else None, None


def main(capture=lambda step: step):
    draws = Draws()
    layer = draws.fill(nn.Linear(4, 3), scale=1.0)
    x, y = draws.normal(5, 4), draws.normal(5, 3)
    signs = BinaryActivation.apply(layer(x))
    loss = ScaledLoss.apply(signs * layer(x), y, 3.0)
    loss.backward()
    return {"signs": signs, "loss": loss, "grad": layer.weight.grad, "bias": layer.bias.grad}


if __name__ == "__main__":
    show(main())
