"""Shapes grown and shrunk, and components labelled until nothing changes."""


def main(T, nn, F, optim, np):
    r = np.random.default_rng(21)
    m = T.tensor((r.random((24, 24)) > 0.6).astype(np.float32))[None, None]
    dil = F.max_pool2d(m, 3, 1, 1)
    ero = -F.max_pool2d(-m, 3, 1, 1)
    opened = F.max_pool2d(-F.max_pool2d(-m, 3, 1, 1), 3, 1, 1)
    lab = T.arange(1, 24 * 24 + 1, dtype=T.float32).view(1, 1, 24, 24) * m
    it = 0
    while True:
        new = F.max_pool2d(lab, 3, stride=1, padding=1) * m
        it += 1
        if T.equal(new, lab):
            break
        lab = new
    ids, counts = T.unique(lab, return_counts=True)
    return {
        "dil": dil,
        "ero": ero,
        "open": opened,
        "lab": lab,
        "ids": ids,
        "counts": counts,
        "it": np.array(it),
    }
