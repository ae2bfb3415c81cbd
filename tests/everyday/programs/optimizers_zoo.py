"""Every optimizer on one bowl, with schedulers, parameter groups, closures and state dicts."""

TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(30)
    A = T.tensor(r.normal(size=(8, 8)))
    A = A @ A.T / 8 + T.eye(8, dtype=T.float64)
    b = T.tensor(r.normal(size=8))
    out = {}
    for name, kw in [
        ("SGD", {"lr": 0.05, "momentum": 0.9, "dampening": 0.1}),
        ("Adam", {"lr": 0.1, "amsgrad": True}),
        ("AdamW", {"lr": 0.1}),
        ("RMSprop", {"lr": 0.05, "centered": True, "momentum": 0.5}),
        ("Adagrad", {"lr": 0.3}),
        ("Adadelta", {"lr": 1.0}),
        ("Adamax", {"lr": 0.1}),
        ("NAdam", {"lr": 0.1}),
        ("RAdam", {"lr": 0.1}),
        ("Rprop", {"lr": 0.01}),
        ("ASGD", {"lr": 0.05}),
    ]:
        x = nn.Parameter(T.zeros(8, dtype=T.float64))
        opt = getattr(optim, name)([x], **kw)
        sched = optim.lr_scheduler.ExponentialLR(opt, 0.97)
        curve = []
        for i in range(12):
            opt.zero_grad()
            loss = 0.5 * x @ A @ x - b @ x
            loss.backward()
            opt.step()
            sched.step()
            curve.append(loss.item())
        out[name] = curve
    x = T.zeros(8, dtype=T.float64, requires_grad=True)
    opt = optim.LBFGS([x], lr=1, max_iter=10, line_search_fn="strong_wolfe")

    def closure():
        opt.zero_grad()
        loss = 0.5 * x @ A @ x - b @ x
        loss.backward()
        return loss

    opt.step(closure)
    out["x"] = x.detach().numpy()
    x = T.zeros(8, dtype=T.float64, requires_grad=True)
    opt = optim.SGD([x], lr=0.1)
    warm = optim.lr_scheduler.LambdaLR(opt, lambda e: min(1.0, (e + 1) / 5))
    cyc = optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, T_0=4)
    lrs = []
    for i in range(10):
        closure_loss = (x - 1).pow(2).sum()
        opt.zero_grad()
        closure_loss.backward()
        opt.step()
        (warm if i < 5 else cyc).step()
        lrs.append(opt.param_groups[0]["lr"])
    state = opt.state_dict()
    out["lrs"] = lrs
    out["keys"] = ",".join(sorted(state))
    return out
