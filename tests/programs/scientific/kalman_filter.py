"""A Kalman filter whose noises are learned: likelihood of a walk, matrix by matrix."""

import math

import torch

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


def main(capture=lambda step: step):
    draws = Draws()
    F = torch.tensor([[1.0, 0.1], [0.0, 1.0]])
    H = torch.tensor([[1.0, 0.0]])
    path = (draws.normal(20) * 0.1).cumsum(0)
    seen = path + 0.3 * draws.normal(20)
    log_q = torch.tensor([-2.0, -2.0], requires_grad=True)
    log_r = torch.tensor(-1.0, requires_grad=True)
    optimizer = torch.optim.Rprop([log_q, log_r], lr=0.05)

    def likelihood():
        x, P = torch.zeros(2), torch.eye(2)
        Q, R = torch.diag(log_q.exp()), log_r.exp().reshape(1, 1)
        total, means = 0.0, []
        for y in seen:
            x, P = F @ x, F @ P @ F.T + Q
            S = H @ P @ H.T + R
            away = y - H @ x
            gain = torch.linalg.solve(S, H @ P).T
            total = total - 0.5 * (torch.logdet(2 * math.pi * S) + away @ S.inverse() @ away)
            x = x + gain @ away
            left = torch.eye(2) - gain @ H
            P = left @ P @ left.T + gain @ R @ gain.T
            means.append(x)
        return total, torch.stack(means), P

    values = []
    for _ in range(3):
        optimizer.zero_grad()
        total, means, P = likelihood()
        (-total).backward()
        optimizer.step()
        values.append(total.item())
    return {"values": values, "means": means, "P": P, "noises": torch.cat([log_q, log_r[None]])}


if __name__ == "__main__":
    show(main())
