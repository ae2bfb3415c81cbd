"""Sub-pixel convolution, initialized by a gain, and the quality of its result."""

import torch

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


def main(capture=lambda step: step):
    draws = Draws()
    nn = torch.nn

    class Net(nn.Module):
        def __init__(self, factor: int):
            super().__init__()
            self.relu = nn.ReLU()
            self.conv1 = nn.Conv2d(1, 4, (5, 5), (1, 1), (2, 2))
            self.conv2 = nn.Conv2d(4, factor**2, (3, 3), (1, 1), (1, 1))
            self.pixel_shuffle = nn.PixelShuffle(factor)
            nn.init.orthogonal_(self.conv1.weight, nn.init.calculate_gain("relu"))

        def forward(self, x):
            return self.pixel_shuffle(self.conv2(self.relu(self.conv1(x))))

    model = draws.fill(Net(2))
    high = draws.normal(2, 1, 8, 8)
    low = nn.functional.interpolate(high, scale_factor=0.5, mode="bilinear", align_corners=False)
    error = nn.MSELoss()(model(low), high)
    error.backward()
    quality = 10 * torch.log10(1 / error)
    return {"error": error, "quality": quality, "grad": model.conv1.bias.grad}

if __name__ == "__main__":
    show(main())
