"""Gram matrices of features and total variation, down to the gradient by the image."""

import torch

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


def main(capture=lambda step: step):
    draws = Draws()
    F = torch.nn.functional
    features = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3, padding=1), torch.nn.ReLU())
    draws.fill(features)
    for parameter in features.parameters():
        parameter.requires_grad_(False)

    def gram(x):
        b, c, h, w = x.size()
        flat = x.view(b * c, h * w)
        return torch.mm(flat, flat.t()).div(b * c * h * w)

    style, content = draws.normal(1, 3, 6, 6), draws.normal(1, 3, 6, 6)
    image = content.clone().requires_grad_(True)
    optimizer = torch.optim.SGD([image], lr=0.5)
    for _ in range(2):
        optimizer.zero_grad()
        loss = 10 * F.mse_loss(gram(features(image)), gram(features(style)).detach())
        loss = loss + F.mse_loss(features(image), features(content))
        loss = loss + 1e-2 * (image[..., 1:] - image[..., :-1]).abs().mean()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            image.clamp_(-2, 2)
    return {"loss": loss, "image": image}

if __name__ == "__main__":
    show(main())
