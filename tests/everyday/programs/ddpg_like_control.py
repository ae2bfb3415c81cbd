"""Control: CartPole's physics in tensors, a policy gradient with a baseline over a batch of carts, LQR, MPC by random shooting."""

TOL = (2e-3, 1e-3)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(32)

    def step(s, force):
        x, v, th, om = s.unbind(-1)
        c, sn = th.cos(), th.sin()
        tmp = (force + 0.05 * om**2 * sn) / 1.1
        acc = (9.8 * sn - c * tmp) / (0.5 * (4 / 3 - 0.1 * c**2 / 1.1))
        xa = tmp - 0.05 * acc * c / 1.1
        return T.stack([x + 0.02 * v, v + 0.02 * xa, th + 0.02 * om, om + 0.02 * acc], dim=-1)

    actor = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
    critic = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
    for net in (actor, critic):
        for p in net.parameters():
            nn.init.constant_(p, 0.0)
            with T.no_grad():
                p += T.tensor(r.normal(size=p.shape) * 0.3).float()
    opt = optim.Adam(
        [{"params": actor.parameters()}, {"params": critic.parameters(), "lr": 1e-2}], lr=3e-3
    )
    history = []
    for episode in range(4):
        s = T.tensor(r.uniform(-0.05, 0.05, (8, 4))).float()
        logps, values, rewards, entropies = [], [], [], []
        for t in range(15):
            dist = T.distributions.Categorical(logits=actor(s))
            u = T.tensor(r.random(8)).float()
            a = (u > dist.probs[:, 0]).long()
            logps.append(dist.log_prob(a))
            entropies.append(dist.entropy())
            values.append(critic(s).squeeze(-1))
            s = step(s, 20.0 * a.float() - 10.0)
            rewards.append(1 - s[:, 2].abs().detach() * 5)
        R = T.zeros(8)
        returns = []
        for rew in rewards[::-1]:
            R = rew + 0.95 * R
            returns.insert(0, R)
        returns, values, logps = T.stack(returns), T.stack(values), T.stack(logps)
        adv = returns - values.detach()
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)
        loss = (
            -(logps * adv).mean() + F.mse_loss(values, returns) - 0.01 * T.stack(entropies).mean()
        )
        opt.zero_grad()
        loss.backward()
        opt.step()
        history.append(loss.item())
    A = T.tensor([[1.0, 0.1], [0.0, 1.0]], dtype=T.float64)
    B = T.tensor([[0.0], [0.1]], dtype=T.float64)
    P = T.eye(2, dtype=T.float64)
    for _ in range(60):
        K = T.linalg.inv(T.eye(1, dtype=T.float64) + B.T @ P @ B) @ B.T @ P @ A
        P = T.eye(2, dtype=T.float64) + A.T @ P @ (A - B @ K)
    s = T.tensor([0.0, 0.0, 0.1, 0.0])
    path = []
    for t in range(8):
        plans = T.tensor(r.choice([-10.0, 10.0], (32, 10))).float()
        states = s.expand(32, 4)
        cost = T.zeros(32)
        for k in range(10):
            states = step(states, plans[:, k])
            cost += states[:, 2] ** 2 + 0.01 * states[:, 0] ** 2
        s = step(s, plans[cost.argmin(), 0])
        path.append(s)
    return {"history": history, "K": K.numpy(), "path": T.stack(path).numpy()}
