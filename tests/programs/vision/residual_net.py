"""A small ResNet: blocks with shortcuts, batch normalization, a step of momentum and decay."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


class BasicBlock(nn.Module):
    def __init__(self, inplanes, planes, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(inplanes, planes, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(planes, planes, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.downsample = None
        if stride != 1 or inplanes != planes:
            shortcut = nn.Conv2d(inplanes, planes, 1, stride, bias=False)
            self.downsample = nn.Sequential(shortcut, nn.BatchNorm2d(planes))

    def forward(self, x):
        identity = x if self.downsample is None else self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += identity
        return self.relu(out)


def main(capture=lambda step: step):
    draws = Draws()
    model = nn.Sequential(
        nn.Conv2d(3, 4, 3, padding=1), BasicBlock(4, 6, 2), nn.AdaptiveAvgPool2d((1, 1)),
        nn.Flatten(), nn.Linear(6, 3),
    )  # fmt: skip
    draws.fill(model)
    x, y = draws.normal(4, 3, 6, 6), draws.integers(3, 4)
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9, weight_decay=1e-4)

    @capture
    def step(x, y):
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.detach()

    losses = [step(x, y).item() for _ in range(3)]
    model.eval()
    return {"losses": losses, "logits": model(x), "mean": model[1].bn1.running_mean,
            "seen": model[1].bn1.num_batches_tracked}


if __name__ == "__main__":
    show(main())
