"""Learning rates by every schedule that programs chain: warmup, cosine, plateau, one cycle."""

import torch

from tests.programs.drawing import show

TOLERANCE = 1e-4


def rates(make, steps=8, metric=None):
    parameter = torch.zeros(1, requires_grad=True)
    optimizer = torch.optim.SGD([parameter], lr=0.1, momentum=0.9)
    schedule = make(optimizer)
    found = []
    for step in range(steps):
        optimizer.step()
        schedule.step(*([metric[step]] if metric is not None else []))
        found.append(optimizer.param_groups[0]["lr"])
    return found


def main(capture=lambda step: step):
    S = torch.optim.lr_scheduler

    def warm(o):
        first = S.LinearLR(o, start_factor=0.1, total_iters=3)
        return S.SequentialLR(o, [first, S.CosineAnnealingLR(o, T_max=5)], milestones=[3])

    return {
        "warm": rates(warm),
        "steps": rates(lambda o: S.MultiStepLR(o, milestones=[2, 5], gamma=0.1)),
        "decay": rates(lambda o: S.ExponentialLR(o, gamma=0.9)),
        "restarts": rates(lambda o: S.CosineAnnealingWarmRestarts(o, T_0=3, T_mult=2)),
        "cycle": rates(lambda o: S.OneCycleLR(o, max_lr=0.5, total_steps=10), 8),
        "noam": rates(lambda o: S.LambdaLR(o, lambda s: min((s + 1) ** -0.5, (s + 1) * 4**-1.5))),
        "plateau": rates(lambda o: S.ReduceLROnPlateau(o, patience=1, factor=0.5), 8,
                         [1.0, 0.9, 0.95, 0.96, 0.97, 0.98, 0.99, 1.0]),
        "poly": rates(lambda o: S.PolynomialLR(o, total_iters=6, power=2.0)),
    }  # fmt: skip


if __name__ == "__main__":
    show(main())
