"""A recursive network over trees of Python tuples; parameters in dicts; manual momentum."""


def main(T, nn, F, optim, np):
    r = np.random.default_rng(23)
    P = {
        k: T.tensor((r.normal(size=s) * 0.3).astype("float32"), requires_grad=True)
        for k, s in {"L": (8, 8), "R": (8, 8), "b": (8,), "E": (6, 8), "o": (8, 2)}.items()
    }
    trees = [((0, 1), (2, (3, 4))), (5, (1, 2)), ((0, 5), 3), (((1, 1), 2), (3, (4, 5))), (2, 2)]
    labels = [0, 1, 0, 1, 1]
    vel = {k: T.zeros_like(v) for k, v in P.items()}

    def enc(t):
        return (
            P["E"][t]
            if isinstance(t, int)
            else T.tanh(enc(t[0]) @ P["L"] + enc(t[1]) @ P["R"] + P["b"])
        )

    log = []
    for epoch in range(5):
        tot = 0.0
        for t, y in zip(trees, labels):
            lp = F.log_softmax(enc(t) @ P["o"], dim=0)
            loss = -lp[y]
            loss.backward()
            tot += loss.item()
            for k, p in P.items():
                if p.grad is not None:
                    vel[k].mul_(0.9).add_(p.grad)
                    p.data.sub_(0.05 * vel[k])
                    p.grad = None
        log.append(tot)
    return {
        "log": log,
        "E": P["E"].detach().numpy(),
        "n": [v.norm().item() for v in P.values()],
    }
