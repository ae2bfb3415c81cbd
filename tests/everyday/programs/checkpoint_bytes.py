"""Saving to BytesIO and loading: model, optimizer, scheduler; training goes on the same."""


def main(T, nn, F, optim, np):
    import io
    r = np.random.default_rng(21)

    def make():
        net = nn.Sequential(nn.Linear(5, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2))
        opt = optim.Adam(net.parameters(), lr=0.02)
        return net, opt, optim.lr_scheduler.StepLR(opt, 2, 0.5)

    net, opt, sched = make()
    with T.no_grad():
        for p in net.parameters():
            if p.dim() > 1:
                p.copy_(T.tensor(r.normal(size=tuple(p.shape))))
    net[0].bias.data.zero_()
    net[3].bias.data.zero_()
    net[0].bias.requires_grad_(False)
    x, y = T.tensor(r.normal(size=(30, 5)), dtype=T.float32), T.tensor(r.integers(0, 2, 30))

    def train(net, opt, sched, n):
        out = []
        for _ in range(n):
            opt.zero_grad()
            loss = F.cross_entropy(net(x), y)
            loss.backward()
            opt.step()
            sched.step()
            out.append(loss.item())
        return out

    first = train(net, opt, sched, 3)
    buffer = io.BytesIO()
    T.save({"net": net.state_dict(), "opt": opt.state_dict(), "sched": sched.state_dict(), "epoch": 3}, buffer)
    on = train(net, opt, sched, 3)
    buffer.seek(0)
    kept = T.load(buffer)
    net2, opt2, sched2 = make()
    net2[0].bias.requires_grad_(False)
    msg = net2.load_state_dict(kept["net"])
    opt2.load_state_dict(kept["opt"])
    sched2.load_state_dict(kept["sched"])
    again = train(net2, opt2, sched2, 3)
    return {"first": first, "on": on, "again": again, "msg": str(msg), "keys": " ".join(kept["net"]), "lr": sched2.get_last_lr(), "mean": net2[1].running_mean.numpy()}
