"""The losses of PPO: advantages over a rollout, clipped ratios, entropy."""

import torch

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


def main(capture=lambda step: step):
    draws = Draws()
    nn = torch.nn
    actor = draws.fill(nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2)))
    critic = draws.fill(nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1)))
    optimizer = torch.optim.Adam(
        [{"params": actor.parameters(), "lr": 1e-2}, {"params": critic.parameters()}], lr=3e-3
    )
    states, rewards = draws.normal(8, 3), draws.normal(8)
    dones = torch.tensor([0.0, 0, 0, 1, 0, 0, 0, 1])
    actions = draws.integers(2, 8)
    with torch.no_grad():
        old = torch.log_softmax(actor(states), -1).gather(1, actions[:, None]).squeeze(1)
        values = critic(states).flatten()
        advantages = torch.zeros_like(rewards)
        last = 0
        for t in reversed(range(7)):
            delta = rewards[t] + 0.99 * values[t + 1] * (1 - dones[t]) - values[t]
            advantages[t] = last = delta + 0.99 * 0.95 * (1 - dones[t]) * last
        returns = advantages + values
    for _ in range(2):
        log_all = torch.log_softmax(actor(states), -1)
        ratio = (log_all.gather(1, actions[:, None]).squeeze(1) - old).exp()
        scaled = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        first, second = -scaled * ratio, -scaled * torch.clamp(ratio, 0.8, 1.2)
        policy_loss = torch.max(first, second).mean()
        value_loss = 0.5 * ((critic(states).view(-1) - returns) ** 2).mean()
        entropy = -(log_all.exp() * log_all).sum(-1).mean()
        loss = policy_loss - 0.01 * entropy + value_loss * 0.5
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(list(actor.parameters()) + list(critic.parameters()), 0.5)
        optimizer.step()
    return {"advantages": advantages, "loss": loss, "ratio": ratio}

if __name__ == "__main__":
    show(main())
