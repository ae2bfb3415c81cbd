"""A learning-rate finder: the rate grows by a lambda, the weights are restored afterwards."""

import copy
import math

TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(130)
    x = T.tensor(r.normal(size=(64, 8)).astype("float32"))
    y = T.tensor(r.normal(size=(64, 1)).astype("float32"))
    net = nn.Sequential(nn.Linear(8, 16), nn.SiLU(), nn.Linear(16, 1))
    for p in net.parameters():
        p.data = T.tensor((r.normal(size=tuple(p.shape)) * 0.3).astype("float32"))
    before = copy.deepcopy(net.state_dict())
    opt = optim.SGD(net.parameters(), lr=1e-4)
    sched = optim.lr_scheduler.LambdaLR(opt, lambda i: 10 ** (i / 8))
    smooth, seen, best = 0.0, [], math.inf
    for i in range(30):
        k = (i * 16) % 64
        opt.zero_grad()
        loss = nn.MSELoss()(net(x[k:k + 16]), y[k:k + 16])
        loss.backward()
        opt.step()
        smooth = 0.9 * smooth + 0.1 * loss.item()
        fixed = smooth / (1 - 0.9 ** (i + 1))
        seen.append((sched.get_last_lr()[0], fixed))
        if fixed > 4 * best:
            break
        best = min(best, fixed)
        sched.step()
    net.load_state_dict(before)
    after = net(x).sum().item()
    steep = int(np.argmin(np.gradient([s for _, s in seen])))
    return {"seen": seen, "after": after, "steep": steep}
