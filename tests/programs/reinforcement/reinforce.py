"""Policy gradients on a walk along a line: returns, a baseline, log-probabilities in a list."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


class Walk:
    def reset(self):
        self.at = 0
        return torch.tensor([0.0, 1.0])

    def step(self, action):
        self.at += 1 if action == 1 else -1
        state = torch.tensor([self.at / 5.0, 1.0])
        return state, 1.0 if self.at > 0 else -0.5, abs(self.at) >= 3


def main(capture=lambda step: step):
    draws = Draws()
    policy = draws.fill(nn.Sequential(nn.Linear(2, 6), nn.ReLU(), nn.Linear(6, 2)))
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
    env, history = Walk(), []
    for _ in range(2):
        state, log_probs, rewards = env.reset(), [], []
        for _ in range(6):
            chosen = torch.distributions.Categorical(F.softmax(policy(state.unsqueeze(0)), dim=1))
            action = torch.tensor([int(draws.uniform(1).item() < 0.6)])
            log_probs.append(chosen.log_prob(action))
            state, reward, done = env.step(action.item())
            rewards.append(reward)
            if done:
                break
        R, returns = 0, []
        for r in rewards[::-1]:
            R = r + 0.99 * R
            returns.insert(0, R)
        returns = torch.tensor(returns)
        returns = (returns - returns.mean()) / (returns.std() + 1e-6)
        loss = torch.cat([-p * r for p, r in zip(log_probs, returns, strict=True)]).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history.append(loss.item())
    return {"history": history, "returns": returns, "entropy": chosen.entropy()}


if __name__ == "__main__":
    show(main())
