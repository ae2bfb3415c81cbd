"""Prefix sums in place (Hillis-Steele, Blelloch), sieve of Eratosthenes, bubble sort and swaps."""


def main(T, nn, F, optim, np):
    r = np.random.default_rng(147)
    x = T.tensor(r.integers(0, 20, 64))
    a = x.clone()
    step = 1
    while step < len(a):
        a[step:] += a[:-step].clone()
        step *= 2
    b = x.clone()
    d = 1
    while d < 64:
        b[2 * d - 1::2 * d] += b[d - 1::2 * d]
        d *= 2
    b[-1] = 0
    while d > 1:
        d //= 2
        left = b[d - 1::2 * d].clone()
        b[d - 1::2 * d] = b[2 * d - 1::2 * d]
        b[2 * d - 1::2 * d] += left
    sieve = T.ones(200, dtype=T.bool)
    sieve[:2] = False
    for p in range(2, 15):
        if sieve[p]:
            sieve[p * p::p] = False
    s = x[:16].clone()
    swaps = 0
    for i in range(len(s)):
        for j in range(len(s) - 1 - i):
            if s[j] > s[j + 1]:
                s[j], s[j + 1] = s[j + 1].item(), s[j].item()
                swaps += 1
    fib = T.zeros(30, dtype=T.int64)
    fib[1] = 1
    for i in range(2, 30):
        fib[i] = fib[i - 1] + fib[i - 2]
    return {"a": a.numpy(), "b": b.numpy(), "same": int((a == x.cumsum(0)).all()), "primes": sieve.nonzero().squeeze().numpy(),
            "s": s.numpy(), "swaps": swaps, "fib": fib.numpy()}
