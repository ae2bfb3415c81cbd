"""Sub-pixel convolution, initialized by a gain, and the quality of its result."""

from __future__ import annotations

from typing import Any

from tests.programs.cases import draw, fill

TOLERANCE = 1e-4


def main(torch: Any, random: Any) -> dict[str, Any]:
    nn = torch.nn

    class Net(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self, factor: int) -> None:
            super().__init__()
            self.relu = nn.ReLU()
            self.conv1 = nn.Conv2d(1, 4, (5, 5), (1, 1), (2, 2))
            self.conv2 = nn.Conv2d(4, factor**2, (3, 3), (1, 1), (1, 1))
            self.pixel_shuffle = nn.PixelShuffle(factor)
            nn.init.orthogonal_(self.conv1.weight, nn.init.calculate_gain("relu"))

        def forward(self, x: Any) -> Any:
            return self.pixel_shuffle(self.conv2(self.relu(self.conv1(x))))

    model = fill(torch, Net(2), random)
    high = draw(torch, random, 2, 1, 8, 8)
    low = nn.functional.interpolate(high, scale_factor=0.5, mode="bilinear", align_corners=False)
    error = nn.MSELoss()(model(low), high)
    error.backward()
    quality = 10 * torch.log10(1 / error)
    return {"error": error, "quality": quality, "grad": model.conv1.bias.grad}
