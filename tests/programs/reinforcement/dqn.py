"""Deep Q-learning on a corridor: replay of transitions, a target network, Huber loss."""

import torch

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


def main(capture=lambda step: step):
    draws = Draws()
    nn = torch.nn

    def network():
        return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))

    policy, target = draws.fill(network()), network()
    target.load_state_dict(policy.state_dict())
    optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-2, amsgrad=True)
    losses = []
    for _ in range(3):
        state = draws.normal(6, 4)
        action = draws.integers(2, 6, 1)
        reward = draws.normal(6)
        final = torch.BoolTensor([False, True, False, False, True, False])
        values = policy(state).gather(1, action)
        following = torch.zeros(6)
        with torch.no_grad():
            following[~final] = target(state[~final] * 0.9).max(1).values
        expected = (following * 0.99) + reward
        loss = nn.SmoothL1Loss()(values, expected.unsqueeze(1))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_value_(policy.parameters(), 100)
        optimizer.step()
        source, kept = policy.state_dict(), target.state_dict()
        for key in source:
            kept[key] = source[key] * 0.1 + kept[key] * 0.9
        target.load_state_dict(kept)
        losses.append(loss.item())
    return {"losses": losses, "target": target[0].weight}

if __name__ == "__main__":
    show(main())
