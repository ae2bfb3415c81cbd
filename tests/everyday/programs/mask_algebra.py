"""Sets and masks: unions, differences, flood fill, connected components by propagated labels."""


def main(T, nn, F, optim, np):
    r = np.random.default_rng(146)
    board = T.tensor(r.random((16, 16)) < 0.55)
    label = T.where(board, T.arange(1, 257).view(16, 16), T.zeros((), dtype=T.long))
    rounds = 0
    while True:
        grown = F.max_pool2d(label[None, None].float(), (3, 1), stride=1, padding=(1, 0))
        wide = F.max_pool2d(label[None, None].float(), (1, 3), stride=1, padding=(0, 1))
        new = T.where(board, T.maximum(grown, wide)[0, 0].long(), 0)
        rounds += 1
        if T.equal(new, label):
            break
        label = new
    found = label.unique()
    sizes = [(label == k).sum().item() for k in found if k != 0]
    fill = T.zeros_like(board)
    start = board.nonzero()[0]
    fill[tuple(start)] = True
    while True:
        near = fill.clone()
        near[1:] |= fill[:-1]
        near[:-1] |= fill[1:]
        near[:, 1:] |= fill[:, :-1]
        near[:, :-1] |= fill[:, 1:]
        near &= board
        if not (near ^ fill).any():
            break
        fill = near
    a, b = T.tensor([1, 3, 5, 7, 9, 11]), T.tensor([3, 4, 5, 9])
    both, only = a[T.isin(a, b)], a[~T.isin(a, b)]
    return {"label": label.numpy(), "sizes": sizes, "rounds": rounds, "fill": int(fill.sum()), "both": both.numpy(),
            "only": only.numpy(), "xor": (board ^ board.T).sum().item(), "all": int(T.all(fill <= board))}
