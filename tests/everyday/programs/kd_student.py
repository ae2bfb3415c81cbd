"""Knowledge distillation with a frozen teacher, temperature and label smoothing; OneCycleLR."""

TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(8)

    def fill(m, s):
        with T.no_grad():
            for p in m.parameters():
                p.copy_(T.tensor(r.normal(size=tuple(p.shape)) * s))
        return m

    teacher = (
        fill(nn.Sequential(nn.Linear(10, 32), nn.GELU(), nn.Linear(32, 4)), 0.5)
        .eval()
        .requires_grad_(False)
    )
    student = fill(
        nn.Sequential(nn.Linear(10, 8), nn.SiLU(), nn.LayerNorm(8), nn.Linear(8, 4)), 0.3
    )
    opt = optim.SGD(student.parameters(), lr=0.05, momentum=0.9, nesterov=True)
    sched = optim.lr_scheduler.OneCycleLR(opt, max_lr=0.1, total_steps=20)
    X = T.tensor(r.normal(size=(40, 10)).astype("float32"))
    y = T.tensor(r.integers(0, 4, 40))
    log = []
    lrs = []
    for step in range(20):
        xb, yb = X[(step % 4) * 10 :][:10], y[(step % 4) * 10 :][:10]
        with T.no_grad():
            soft = F.softmax(teacher(xb) / 3, -1)
        s = student(xb)
        loss = 0.7 * F.kl_div(
            F.log_softmax(s / 3, -1), soft, reduction="batchmean"
        ) * 9 + 0.3 * F.cross_entropy(s, yb, label_smoothing=0.1)
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        log.append(loss.item())
        lrs.append(sched.get_last_lr()[0])
    with T.inference_mode():
        agree = (student(X).argmax(1) == teacher(X).argmax(1)).float().mean().item()
    return {
        "log": log,
        "lrs": lrs,
        "agree": agree,
        "grad": str(any(p.grad is not None for p in teacher.parameters())),
    }
