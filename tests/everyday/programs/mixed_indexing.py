"""Integers, slices, lists, masks, None and ellipsis in one index, read and written."""


def main(T, nn, F, optim, np):
    x = T.arange(120).reshape(4, 5, 6).float()
    found = {}
    found["a"] = x[[0, 2], :, 1].numpy()
    found["b"] = x[:, T.tensor([4, 0]), 1:4].numpy()
    found["c"] = x[..., -1, None].numpy()
    found["d"] = x[T.arange(4), T.tensor([0, 1, 2, 3])].numpy()
    found["e"] = x[x[:, 0, 0] > 30].sum((1, 2)).numpy()
    found["f"] = x[1, x[1, :, 0] > 40, ::2].numpy()
    y = x.clone()
    y[y > 60] *= -1
    y[0, [1, 3]] = T.tensor([7.0, 8, 9, 10, 11, 12])
    y[1:3, ::2, -1] += 100
    y[T.tensor([0, 3]), T.tensor([2, 2]), T.tensor([5, 5])] = 0.5
    y[:, 4] = y[:, 0].clone()
    y[2][1][3] = -5
    found["y"] = y.numpy()
    grid = T.zeros(8, 8, dtype=T.int64)
    for i in range(8):
        for j in range(8):
            grid[i, j] = (i * j) % 5
    rows, cols = T.where(grid == 3)
    found["rows"] = rows.numpy()
    found["cols"] = cols.numpy()
    for i, j in zip(rows, cols):
        grid[i, j] = grid[i - 1, j] + 10
    found["grid"] = grid.numpy()
    diag = grid[range(8), range(8)]
    found["diag"] = diag.numpy()
    z = T.zeros(5)
    z.index_put_((T.tensor([0, 0, 3]),), T.tensor([1.0, 2.0, 3.0]), accumulate=True)
    z.index_fill_(0, T.tensor([4]), 9.0)
    found["z"] = z.numpy()
    found["take"] = x.take(T.tensor([0, 7, 119])).numpy()
    found["text"] = str(grid[2, :4]) + str(z)
    return found
