"""Gradients of each example by vmap, Jacobians and Hessians of functions of parameters."""

import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call, grad, hessian, jacrev, vmap

from tests.programs.drawing import Draws, show

TOLERANCE = 3e-4


def main(capture=lambda step: step):
    draws = Draws()
    model = draws.fill(nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)))
    params = {k: v.detach() for k, v in model.named_parameters()}
    x, y = draws.normal(5, 3), draws.integers(2, 5)

    def compute_loss(params, sample, target):
        out = functional_call(model, params, (sample.unsqueeze(0),))
        return F.cross_entropy(out, target.unsqueeze(0))

    each = vmap(grad(compute_loss), in_dims=(None, 0, 0))(params, x, y)
    clipped = each["0.weight"].flatten(1)
    clipped = clipped / clipped.norm(dim=1, keepdim=True).clamp(min=0.1)
    jacobian = vmap(jacrev(lambda s: functional_call(model, params, (s,))))(x)
    curvature = hessian(lambda s: functional_call(model, params, (s,)).square().sum())(x[0])
    return {"each": each["2.bias"], "clipped": clipped, "jacobian": jacobian, "hessian": curvature}


if __name__ == "__main__":
    show(main())
