"""Where a network looks: activations and gradients taken by hooks, and guided backpropagation."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


def main(capture=lambda step: step):
    draws = Draws()
    features = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 4, 3))
    head = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 3))
    model = draws.fill(nn.Sequential(features, head))
    kept = {}

    def save_activation(module, given, result):
        kept["activation"] = result
        result.register_hook(lambda gradient: kept.update(gradient=gradient))

    handles = [features[2].register_forward_hook(save_activation)]
    for module in model.modules():
        if isinstance(module, nn.ReLU):
            handles.append(
                module.register_full_backward_hook(
                    lambda module, given, out: (torch.clamp(given[0], min=0.0),)
                )
            )
    x = draws.normal(1, 1, 6, 6).requires_grad_()
    scores = model(x)
    scores[0, scores.argmax()].backward()
    for handle in handles:
        handle.remove()
    weights = kept["gradient"].mean(dim=(2, 3), keepdim=True)
    cam = F.relu((weights * kept["activation"]).sum(1, keepdim=True))
    cam = F.interpolate(cam, size=(6, 6), mode="bilinear", align_corners=False)
    cam = (cam - cam.min()) / (cam.max() - cam.min() + 1e-6)
    return {"cam": cam, "saliency": x.grad.abs().amax(1), "scores": scores}


if __name__ == "__main__":
    show(main())
