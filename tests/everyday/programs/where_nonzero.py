"""Choosing with where, nonzero, masked_select, take_along_dim and advanced indices."""


def main(T, nn, F, optim, np):
    r = np.random.default_rng(26)
    x = T.tensor(r.normal(size=(20, 30)).astype("float32"))
    rows, cols = T.where(x > 1.5)
    nz = T.nonzero(x < -1.8)
    picked = x[rows, cols]
    x2 = x.clone()
    x2[rows, cols] = 0
    x2[x2 < -1] = -1
    best = x.argmax(1)
    top = x[T.arange(20), best]
    t = T.take_along_dim(x, best[:, None], 1)
    idx = T.tensor(r.integers(0, 20, (4, 5)))
    cube = x[idx]
    cube2 = x[idx, :, None][..., 0]
    sub = x[T.tensor([1, 5, 7])[:, None], T.tensor([2, 4])]
    neg = x[-1, -3:]
    ell = cube[..., 0]
    boo = x[(x.sum(1) > 0)]
    w = T.where(x > 0, x, 0.01 * x)
    first = T.argmax((x > 1).int(), dim=1)
    return {"rows": rows.numpy(), "nz": nz.numpy(), "picked": picked.numpy(), "x2": x2.sum().item(), "same": bool((top == t[:, 0]).all()), "cube": cube.sum((1, 2)).numpy(),
            "eq": T.equal(cube, cube2), "sub": sub.numpy(), "neg": neg.numpy(), "ell": ell.numpy(), "boo": list(boo.shape), "w": w.mean(0).numpy(), "first": first.numpy(),
            "anyall": [(x > 2).any().item(), (x.abs() < 9).all().item()], "cnt": T.count_nonzero(x > 0, dim=1).numpy()}
