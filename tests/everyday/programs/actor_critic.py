"""An actor and a critic with shared layers, returns by a loop, entropy and an advantage."""

TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(116)

    class Policy(nn.Module):
        def __init__(self):
            super().__init__()
            self.body, self.actor, self.critic = nn.Linear(4, 16), nn.Linear(16, 3), nn.Linear(16, 1)

        def forward(self, s):
            h = F.relu(self.body(s))
            return F.softmax(self.actor(h), dim=-1), self.critic(h)

    net = Policy()
    for p in net.parameters():
        p.data = T.tensor((r.normal(size=tuple(p.shape)) * 0.3).astype("float32"))
    opt = optim.Adam(net.parameters(), lr=0.02)
    totals = []
    for episode in range(5):
        state = r.normal(size=4).astype("float32")
        logs, values, rewards, entropies = [], [], [], []
        for step in range(8):
            probs, value = net(T.from_numpy(state))
            action = int((probs.detach().cumsum(0) < float(r.random())).sum().clamp(max=2))
            logs.append(T.log(probs[action]))
            entropies.append(-(probs * probs.log()).sum())
            values.append(value[0])
            rewards.append(float(state[action]))
            state = np.roll(state, 1) * np.float32(0.9) + np.float32(0.1 * action)
        returns, R = [], 0
        for reward in rewards[::-1]:
            R = reward + 0.95 * R
            returns.insert(0, R)
        returns = T.tensor(returns)
        returns = (returns - returns.mean()) / (returns.std() + 1e-8)
        losses_a, losses_c = [], []
        for log, value, ret in zip(logs, values, returns):
            losses_a.append(-log * (ret - value.item()))
            losses_c.append(F.smooth_l1_loss(value, ret))
        loss = T.stack(losses_a).sum() + T.stack(losses_c).sum() - 0.01 * T.stack(entropies).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        totals.append([sum(rewards), loss.item()])
    return {"totals": totals, "w": net.critic.weight.detach().numpy()}
