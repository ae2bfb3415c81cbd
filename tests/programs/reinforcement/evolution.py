"""Evolution strategies: many perturbed copies of a policy, run at once by functional calls."""

import torch
import torch.nn as nn
from torch.func import functional_call, stack_module_state, vmap

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


def main(capture=lambda step: step):
    draws = Draws()
    policy = draws.fill(nn.Sequential(nn.Linear(2, 5), nn.Tanh(), nn.Linear(5, 1)))
    sizes = [p.numel() for p in policy.parameters()]
    centre = nn.utils.parameters_to_vector(policy.parameters()).detach()
    models = [draws.fill(nn.Sequential(nn.Linear(2, 5), nn.Tanh(), nn.Linear(5, 1))) for _ in "ab"]
    params, _ = stack_module_state(models)

    def rewards(vectors):
        shaped = {
            name: part.view(len(vectors), *p.shape)
            for (name, p), part in zip(
                policy.named_parameters(), vectors.split(sizes, dim=1), strict=True
            )
        }
        state, total = torch.tensor([[1.0, 0.0]]).repeat(len(vectors), 1), 0.0
        for _ in range(10):
            force = vmap(lambda p, s: functional_call(policy, p, (s,)))(shaped, state).squeeze(-1)
            position, speed = state.unbind(-1)
            speed = speed + 0.1 * (force.clamp(-2, 2) - position)
            position = position + 0.1 * speed
            state = torch.stack([position, speed], dim=-1)
            total = total - position**2 - 0.1 * speed**2
        return total

    best = []
    with torch.no_grad():
        for _ in range(3):
            noise = draws.normal(8, len(centre))
            noise = torch.cat([noise, -noise])
            found = rewards(centre + 0.1 * noise)
            ranks = found.argsort().argsort().float() / (len(found) - 1) - 0.5
            centre = centre + 0.2 / (len(found) * 0.1) * ranks @ noise
            best.append(found.max().item())
        nn.utils.vector_to_parameters(centre, policy.parameters())
        both = vmap(lambda p, x: functional_call(models[0], p, (x,)), in_dims=(0, None))(
            params, torch.tensor([0.3, -0.2])
        )
    return {"best": best, "centre": centre, "both": both, "last": policy[2].bias}


if __name__ == "__main__":
    show(main())
