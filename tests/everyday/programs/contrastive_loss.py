"""SimCLR-like and triplet losses on two views of the same points."""

TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(128)
    x = r.normal(size=(16, 10)).astype("float32")
    net = nn.Sequential(nn.Linear(10, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 6))
    for p in net.parameters():
        if p.dim() == 2:
            p.data = T.tensor((r.normal(size=tuple(p.shape)) * 0.3).astype("float32"))
        else:
            p.data.fill_(0.5)
    opt = optim.SGD(net.parameters(), lr=0.1)
    sched = optim.lr_scheduler.StepLR(opt, step_size=3, gamma=0.5)
    losses, rates = [], []
    triplet = nn.TripletMarginLoss(margin=0.5)
    for step in range(8):
        a = T.tensor(x + 0.1 * r.normal(size=x.shape).astype("float32"))
        b = T.tensor(x + 0.1 * r.normal(size=x.shape).astype("float32"))
        z = F.normalize(net(T.cat([a, b])), dim=1)
        sim = z @ z.T / 0.5
        sim = sim.masked_fill(T.eye(32, dtype=T.bool), -1e9)
        goal = T.cat([T.arange(16, 32), T.arange(16)])
        loss = F.cross_entropy(sim, goal)
        anchor, positive = z.chunk(2)
        loss = loss + triplet(anchor, positive, positive.roll(1, 0))
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        losses.append(loss.item())
        rates.append(opt.param_groups[0]["lr"])
    return {"losses": losses, "rates": rates, "mean": net[1].running_mean.numpy()}
