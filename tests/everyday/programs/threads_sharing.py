"""Threads that compute with tensors of their own and add to one."""

import threading


def main(T, nn, F, optim, np):
    r = np.random.default_rng(47)
    data = [T.tensor(r.standard_normal((20, 20)), dtype=T.float32) for _ in range(4)]
    res, lock, total = [None] * 4, threading.Lock(), T.zeros(20)

    def work(i):
        x = data[i]
        for _ in range(10):
            x = T.tanh(x @ data[i].T / 20)
        with lock:
            total.add_(x.sum(0))
        res[i] = x.norm()

    ts = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    [t.start() for t in ts]
    [t.join() for t in ts]
    return {"res": T.stack(res), "total": total}
