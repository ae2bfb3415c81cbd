"""Viterbi decoding with back pointers, several sequences at once."""


def main(T, nn, F, optim, np):
    r = np.random.default_rng(105)
    B, L, S = 5, 30, 6
    emit = T.tensor(r.normal(size=(B, L, S)).astype("float32"))
    trans = T.tensor(r.normal(size=(S, S)).astype("float32"))
    score, back = emit[:, 0], []
    for t in range(1, L):
        total = score.unsqueeze(2) + trans.unsqueeze(0)
        best, where = total.max(dim=1)
        score = best + emit[:, t]
        back.append(where)
    value, last = score.max(dim=1)
    path = [last]
    for where in reversed(back):
        last = where.gather(1, last.unsqueeze(1)).squeeze(1)
        path.append(last)
    path.reverse()
    path = T.stack(path, dim=1)
    check = emit.gather(2, path.unsqueeze(2)).squeeze(2).sum(1)
    check += trans[path[:, :-1], path[:, 1:]].sum(1)
    return {"path": path.numpy(), "value": value.numpy(), "same": int(T.allclose(value, check, atol=1e-4))}
