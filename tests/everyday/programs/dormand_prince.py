"""Differential equations with steps that adapt, some of which are rejected."""


def main(T, nn, F, optim, np):
    C = [
        [1 / 5],
        [3 / 40, 9 / 40],
        [44 / 45, -56 / 15, 32 / 9],
        [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
        [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
        [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
    ]
    B = [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84, 0]
    E = [71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40]

    def f(y):
        return T.stack([y[1], (1 - y[0] ** 2) * y[1] - y[0]])

    y, t, h = T.tensor([2.0, 0.0], dtype=T.float64), 0.0, 0.1
    ts, ys, rejected = [], [], 0
    while t < 6:
        k = [f(y)]
        for row in C:
            k.append(f(y + h * sum(a * ki for a, ki in zip(row, k))))
        err = (h * sum(e * ki for e, ki in zip(E, k))).abs().max().item()
        if err < 1e-5:
            y = y + h * sum(b * ki for b, ki in zip(B, k))
            t += h
            ts.append(t)
            ys.append(y)
        else:
            rejected += 1
        h = min(0.5, max(0.01, 0.9 * h * (1e-5 / (err + 1e-12)) ** 0.2))
    return {"t": np.array(ts), "y": T.stack(ys), "rejected": np.array(rejected)}
