"""Squashed Gaussian policies, two critics, a temperature that is learned, targets that follow."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from tests.programs.drawing import Draws, show

TOLERANCE = 3e-4


LOG_STD_MAX, LOG_STD_MIN = 2, -5


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.mean, self.logstd = nn.Linear(3, 8), nn.Linear(8, 2), nn.Linear(8, 2)
        self.register_buffer("scale", torch.tensor([2.0, 0.5]))

    def forward(self, x, noise):
        x = F.relu(self.fc(x))
        mean, log_std = self.mean(x), torch.tanh(self.logstd(x))
        log_std = LOG_STD_MIN + 0.5 * (LOG_STD_MAX - LOG_STD_MIN) * (log_std + 1)
        normal = torch.distributions.Normal(mean, log_std.exp())
        x_t = mean + log_std.exp() * noise
        y_t = torch.tanh(x_t)
        log_prob = normal.log_prob(x_t) - torch.log(self.scale * (1 - y_t.pow(2)) + 1e-6)
        return y_t * self.scale, log_prob.sum(1, keepdim=True)


def make_critic():
    return nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 1))


def main(capture=lambda step: step):
    draws = Draws()
    actor, q1, q2 = draws.fill(Actor()), draws.fill(make_critic()), draws.fill(make_critic())
    target = make_critic()
    target.load_state_dict(q1.state_dict())
    q_optimizer = torch.optim.Adam([*q1.parameters(), *q2.parameters()], lr=1e-2)
    actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-2)
    log_alpha = torch.zeros(1, requires_grad=True)
    a_optimizer = torch.optim.Adam([log_alpha], lr=1e-2)
    for _ in range(2):
        obs, following, action = draws.normal(6, 3), draws.normal(6, 3), draws.normal(6, 2)
        reward, done, noise = draws.normal(6), draws.integers(2, 6), draws.normal(6, 2)
        alpha = log_alpha.exp().item()
        with torch.no_grad():
            next_action, next_log_pi = actor(following, noise)
            future = target(torch.cat([following, next_action], 1)) - alpha * next_log_pi
            wanted = reward.flatten() + (1 - done.flatten()) * 0.99 * future.view(-1)
        both = torch.cat([obs, action], 1)
        loss = F.mse_loss(q1(both).view(-1), wanted) + F.mse_loss(q2(both).view(-1), wanted)
        q_optimizer.zero_grad()
        loss.backward()
        q_optimizer.step()
        pi, log_pi = actor(obs, noise)
        chosen = torch.cat([obs, pi], 1)
        actor_loss = ((alpha * log_pi) - torch.min(q1(chosen), q2(chosen))).mean()
        actor_optimizer.zero_grad()
        actor_loss.backward()
        actor_optimizer.step()
        alpha_loss = (-log_alpha.exp() * (log_pi.detach() - 2.0)).mean()
        a_optimizer.zero_grad()
        alpha_loss.backward()
        a_optimizer.step()
        for p, tp in zip(q1.parameters(), target.parameters(), strict=True):
            tp.data.copy_(0.005 * p.data + (1 - 0.005) * tp.data)
    return {"loss": loss, "actor_loss": actor_loss, "alpha": log_alpha, "target": target[0].weight}


if __name__ == "__main__":
    show(main())
