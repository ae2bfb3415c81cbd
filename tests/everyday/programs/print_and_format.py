"""Printing tensors, formatting numbers, repr of modules, dtype promotion, type conversions and errors caught."""


def main(T, nn, F, optim, np):
    a = T.tensor([1, 2, 3])
    b = T.tensor([0.5, 1.5, -2.0])
    out = [
        str(a),
        repr(b),
        f"{b.mean():.3f}",
        str((a + b).dtype).split(".")[-1],
        str((a / 2).dtype).split(".")[-1],
        str(a > 1),
        str(a.float().mean().item()),
        str(T.zeros(2, 3)),
        f"{b[0].item():.2e}",
        str(b.tolist()),
        str(a.shape),
        str(T.tensor(3.0)),
        str(nn.Linear(2, 3)),
        str(nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU())),
    ]
    errs = []
    for f in (
        lambda: a @ T.ones(2),
        lambda: a.view(2, 2),
        lambda: T.cat([T.ones(2, 2), T.ones(3, 3)]),
        lambda: a[5],
        lambda: T.ones(2, 3) + T.ones(4),
        lambda: T.tensor([1, 2]).backward(),
    ):
        try:
            f()
            errs.append("none")
        except (RuntimeError, IndexError, ValueError) as e:
            errs.append(
                "IndexError"
                if isinstance(e, IndexError)
                else "RuntimeError"
                if isinstance(e, RuntimeError)
                else "ValueError"
            )
    s = 0
    for v in T.arange(20):
        s += int(v) ** 2
    d = {k.item(): n for k, n in zip(*[iter([T.tensor(1), "a"])] * 2)}
    t = T.tensor([[1, 2], [3, 4]], dtype=T.int16)
    z = t.to(T.float64) / 3
    big = T.tensor(2**40)
    ch = T.tensor([250], dtype=T.uint8) + 10
    bo = bool(T.tensor([1]))
    l = len(T.ones(4, 2))
    c = T.tensor([1 + 2j])
    eq = T.equal(a, T.tensor([1, 2, 3]))
    i = T.iinfo(T.int32).max
    eps = T.finfo(T.float32).eps
    sc = (
        T.tensor(5) // 2,
        T.tensor(-5) // 2,
        T.tensor(7) % 3,
        2 ** T.tensor(3),
        -T.tensor(1.0),
        abs(T.tensor(-4)),
        round(T.tensor(2.6).item()),
    )
    return {
        "out": "|".join(out),
        "errs": ",".join(errs),
        "s": s,
        "keys": list(d),
        "z": z.numpy(),
        "big": big.item(),
        "ch": ch.item(),
        "bo": str(bo),
        "l": l,
        "c": c.abs().item(),
        "eq": str(eq),
        "i": i,
        "eps": eps,
        "sc": [float(v) for v in sc],
    }
