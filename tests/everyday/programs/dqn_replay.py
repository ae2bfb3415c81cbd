"""Deep Q-learning on a corridor, with a replay buffer and a target network."""

from collections import deque

TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(115)
    make = lambda: nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 2))
    q, target = make(), make()
    with T.no_grad():
        for p in q.parameters():
            p.copy_(T.tensor((r.normal(size=tuple(p.shape)) * 0.3).astype("float32")))
    target.load_state_dict(q.state_dict())
    opt, buffer = optim.Adam(q.parameters(), lr=0.01), deque(maxlen=100)
    state, losses, actions = 0, [], []
    code = T.eye(5)
    for step in range(60):
        if r.random() < 0.3:
            action = int(r.integers(2))
        else:
            with T.no_grad():
                action = q(code[state].unsqueeze(0)).max(1)[1].item()
        actions.append(action)
        after = max(0, min(4, state + (1 if action else -1)))
        reward, done = float(after == 4), after == 4
        buffer.append((code[state], action, reward, code[after], done))
        state = 0 if done else after
        if len(buffer) >= 16 and step % 2 == 0:
            picks = r.choice(len(buffer), 8, replace=False)
            s, a, rew, s2, d = zip(*(buffer[i] for i in picks))
            s, s2 = T.stack(s), T.stack(s2)
            a, rew = T.tensor(a).unsqueeze(1), T.tensor(rew)
            d = T.tensor(d, dtype=T.float32)
            now = q(s).gather(1, a).squeeze(1)
            goal = rew + 0.9 * target(s2).max(1).values.detach() * (1 - d)
            loss = F.smooth_l1_loss(now, goal)
            opt.zero_grad()
            loss.backward()
            for p in q.parameters():
                p.grad.data.clamp_(-1, 1)
            opt.step()
            losses.append(loss.item())
        if step % 20 == 19:
            target.load_state_dict(q.state_dict())
    return {"losses": losses, "actions": actions, "q": q(code).detach().numpy()}
