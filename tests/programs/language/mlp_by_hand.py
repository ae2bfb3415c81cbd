"""A model of characters whose batch normalization and layers are written out by hand."""

import torch
import torch.nn.functional as F

from tests.programs.drawing import Draws, show

TOLERANCE = 3e-4


class Linear:
    def __init__(self, weight):
        self.weight = weight

    def __call__(self, x):
        self.out = x @ self.weight
        return self.out

    def parameters(self):
        return [self.weight]


class BatchNorm1d:
    def __init__(self, dim, eps=1e-5, momentum=0.1):
        self.eps, self.momentum, self.training = eps, momentum, True
        self.gamma, self.beta = torch.ones(dim), torch.zeros(dim)
        self.running_mean, self.running_var = torch.zeros(dim), torch.ones(dim)

    def __call__(self, x):
        if self.training:
            mean, var = x.mean(0, keepdim=True), x.var(0, keepdim=True)
        else:
            mean, var = self.running_mean, self.running_var
        self.out = self.gamma * (x - mean) / torch.sqrt(var + self.eps) + self.beta
        if self.training:
            with torch.no_grad():
                self.running_mean = (1 - self.momentum) * self.running_mean + self.momentum * mean
                self.running_var = (1 - self.momentum) * self.running_var + self.momentum * var
        return self.out

    def parameters(self):
        return [self.gamma, self.beta]


def main(capture=lambda step: step):
    draws = Draws()
    table = draws.normal(9, 4)
    layers = [Linear(draws.normal(12, 10) / 12**0.5), BatchNorm1d(10), Linear(draws.normal(10, 9))]
    parameters = [table] + [p for layer in layers for p in layer.parameters()]
    for p in parameters:
        p.requires_grad = True
    xs, ys = draws.integers(9, 16, 3), draws.integers(9, 16)
    for i in range(3):
        x = table[xs].view(xs.shape[0], -1)
        x = torch.tanh(layers[1](layers[0](x)))
        loss = F.cross_entropy(layers[2](x), ys)
        for p in parameters:
            p.grad = None
        loss.backward()
        lr = 0.1 if i < 2 else 0.01
        for p in parameters:
            p.data += -lr * p.grad
    ratios = [(p.grad.std() / p.data.std()).item() for p in parameters if p.ndim == 2]
    layers[1].training = False
    with torch.no_grad():
        tested = layers[2](torch.tanh(layers[1](layers[0](table[xs].view(16, -1)))))
    return {"loss": loss, "ratios": ratios, "tested": tested, "mean": layers[1].running_mean}


if __name__ == "__main__":
    show(main())
