"""MAML with a small convnet: inner steps with create_graph, outer by Adam; cross entropy and batch statistics."""

TOL = (2e-3, 1e-3)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(16)
    P = {
        k: T.tensor((r.normal(size=s) * 0.3).astype("float32"), requires_grad=True)
        for k, s in {"c": (4, 1, 3, 3), "cb": (4,), "w": (3, 16), "b": (3,)}.items()
    }

    def f(x, p):
        h = F.max_pool2d(F.relu(F.conv2d(x, p["c"], p["cb"], padding=1)), 3)
        return F.linear(F.layer_norm(h.flatten(1), (16,)), p["w"], p["b"])

    opt = optim.Adam(list(P.values()), lr=1e-2)
    log = []
    for it in range(4):
        meta = 0
        for task in range(2):
            x = T.tensor(r.random((6, 1, 6, 6)).astype("float32"))
            y = T.tensor(r.integers(0, 3, 6))
            fast = dict(P)
            for s in range(2):
                g = T.autograd.grad(
                    F.cross_entropy(f(x[:3], fast), y[:3]), list(fast.values()), create_graph=True
                )
                fast = {k: v - 0.1 * d for (k, v), d in zip(fast.items(), g)}
            meta = meta + F.cross_entropy(f(x[3:], fast), y[3:])
        opt.zero_grad()
        meta.backward()
        opt.step()
        log.append(meta.item())
    return {"log": log, "b": P["b"].grad.numpy()}
