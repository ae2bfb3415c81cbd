"""Writing through slices, transposes, diagonals, chunks, unfold and strided views."""


def main(T, nn, F, optim, np):
    a = T.arange(48.).reshape(6, 8)
    a[1:3] *= 2
    a[:, ::2].add_(100)
    a.t()[3].zero_()
    a.diagonal().mul_(-1)
    for i, part in enumerate(a.chunk(4, dim=1)):
        part += i
    row = a[4]
    row[row > 20] = 0.5
    b = a.view(-1)
    b[5:9] = T.tensor([9., 8., 7., 6.])
    a[[0, 2], [1, 3]] = -7
    a.unfold(1, 4, 2)[:, 1].mul_(1.5) if False else None
    c = a.clone()
    c.masked_fill_(c < 0, 0).clamp_(max=50)
    d = T.zeros(4, 4)
    d.scatter_(1, T.tensor([[0], [2], [1], [3]]), 1.0)
    d.index_fill_(0, T.tensor([1]), 5)
    d.index_copy_(1, T.tensor([0, 3]), T.ones(4, 2) * 3)
    e = T.empty(3, 3).fill_(2).tril_().t_()
    f = T.arange(10)
    f[2:8].copy_(f[2:8].flip(0))
    g = T.zeros(5)
    g.put_(T.tensor([1, 1, 3]), T.tensor([1., 2., 3.]), accumulate=True)
    h = a.narrow(0, 1, 2).select(1, 2)
    h.fill_(77)
    out = []
    for i in range(30):
        a[i % 6, i % 8] += i
        out.append(a[i % 6].sum().item())
    return {"a": a.numpy(), "c": c.numpy(), "d": d.numpy(), "e": e.numpy(), "f": f.numpy(), "g": g.numpy(), "out": out, "same": str(a.data_ptr() == b.data_ptr())}
