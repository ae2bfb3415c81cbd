"""Edit distance and longest common subsequence by tables that are filled element by element."""


def main(T, nn, F, optim, np):
    def distance(a, b):
        d = T.zeros(len(a) + 1, len(b) + 1, dtype=T.int32)
        d[:, 0] = T.arange(len(a) + 1)
        d[0, :] = T.arange(len(b) + 1)
        for i in range(1, len(a) + 1):
            for j in range(1, len(b) + 1):
                cost = 0 if a[i - 1] == b[j - 1] else 1
                d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + cost)
        return d

    def by_rows(a, b):
        codes = T.tensor([ord(c) for c in b])
        row = T.arange(len(b) + 1)
        steps = T.arange(len(b) + 1)
        for i, c in enumerate(a, 1):
            first = T.full((1,), i)
            best = T.minimum(row[1:] + 1, row[:-1] + (codes != ord(c)).long())
            new = T.cat([first, best])
            row = T.cummin(new - steps, dim=0).values + steps
        return row[-1].item()

    d = distance("kitten sit", "sitting in")
    pairs = [("flaw", "lawn"), ("gumbo", "gambol"), ("intention", "execution"), ("", "abc"), ("same", "same")]
    return {"d": d.numpy(), "last": int(d[-1, -1]), "rows": [by_rows(a, b) for a, b in pairs]}
