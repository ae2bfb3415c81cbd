"""Quick sort, merge sort, bitonic network, counting and radix sorts, heap, binary search, inversions."""


def main(T, nn, F, optim, np):
    r = np.random.default_rng(24)
    x = T.tensor(r.integers(0, 100, 64))

    def quick(v):
        if len(v) <= 1:
            return v
        p = v[len(v) // 2]
        return T.cat([quick(v[v < p]), v[v == p], quick(v[v > p])])

    def merge(v):
        if v.numel() < 2:
            return v
        a, b = merge(v[: v.numel() // 2]), merge(v[v.numel() // 2 :])
        out, i, j = T.empty_like(v), 0, 0
        for k in range(v.numel()):
            if j >= len(b) or (i < len(a) and a[i] <= b[j]):
                out[k] = a[i]
                i += 1
            else:
                out[k] = b[j]
                j += 1
        return out

    def bitonic(v):
        v = v.clone()
        n = len(v)
        idx = T.arange(n)
        k = 2
        while k <= n:
            j = k // 2
            while j > 0:
                l = idx ^ j
                up = (idx & k) == 0
                swap = (l > idx) & ((up & (v > v[l])) | (~up & (v < v[l])))
                a, b = idx[swap], l[swap]
                v[a], v[b] = v[b].clone(), v[a].clone()
                j //= 2
            k *= 2
        return v

    def radix(v):
        for bit in range(7):
            b = (v >> bit) & 1
            v = T.cat((v[b == 0], v[b == 1]))
        return v

    counts = T.bincount(x, minlength=100)
    counting = T.repeat_interleave(T.arange(100), counts)
    lo, hi, probes = 0, 63, 0
    s = quick(x)
    while lo < hi:
        mid = (lo + hi) // 2
        probes += 1
        if s[mid] < 50:
            lo = mid + 1
        else:
            hi = mid
    inversions = (x[:, None] > x[None, :]).triu(1).sum()
    heap = x[:15].clone()
    for start in range(7, -1, -1):
        i = start
        while True:
            c = 2 * i + 1
            if c >= 15:
                break
            if c + 1 < 15 and heap[c + 1] > heap[c]:
                c += 1
            if heap[i] >= heap[c]:
                break
            heap[[i, c]] = heap[[c, i]]
            i = c
    return {
        "quick": s.numpy(),
        "merge": merge(x).numpy(),
        "bitonic": bitonic(x).numpy(),
        "radix": radix(x).numpy(),
        "counting": counting.numpy(),
        "lo": lo,
        "probes": probes,
        "inv": inversions.item(),
        "heap": heap.numpy(),
        "run": T.unique_consecutive(s, return_counts=True)[1].numpy(),
        "kth": x.kthvalue(10).values.item(),
    }
