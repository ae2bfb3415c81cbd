"""A deterministic actor and its critic: soft updates, a replay memory of tensors, delayed steps."""

from collections import deque

import torch
import torch.nn as nn

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


def main(capture=lambda step: step):
    draws = Draws()
    actor = draws.fill(nn.Sequential(nn.Linear(3, 6), nn.ReLU(), nn.Linear(6, 1), nn.Tanh()))
    critic = draws.fill(nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 1)))
    memory = deque(maxlen=8)
    for _ in range(10):
        memory.append((draws.normal(3), draws.normal(1), draws.normal(1), draws.normal(3)))
    actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-2)
    critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-2, weight_decay=1e-2)
    for iteration in range(3):
        chosen = [memory[i] for i in range(iteration, iteration + 4)]
        state, action, reward, following = map(torch.stack, zip(*chosen, strict=True))
        with torch.no_grad():
            q_next = critic(torch.cat([following, actor(following)], dim=1))
        critic_loss = nn.MSELoss()(critic(torch.cat([state, action], 1)), reward + 0.99 * q_next)
        critic_optimizer.zero_grad()
        critic_loss.backward()
        critic_optimizer.step()
        if iteration % 2 == 0:
            actor_loss = -critic(torch.cat([state, actor(state)], 1)).mean()
            actor_optimizer.zero_grad()
            actor_loss.backward()
            actor_optimizer.step()
    return {"critic": critic_loss, "actor": actor_loss, "weight": actor[0].weight}


if __name__ == "__main__":
    show(main())
