"""Value and policy iteration of a random Markov decision process."""


def main(T, nn, F, optim, np):
    r = np.random.default_rng(4)
    S, A = 20, 4
    P = T.from_numpy(r.random((A, S, S)) ** 6)
    P /= P.sum(-1, keepdim=True)
    R = T.from_numpy(r.normal(size=(S, A)))
    V = T.zeros(S, dtype=T.float64)
    gamma = 0.9
    sweeps = 0
    while True:
        Qsa = R + gamma * T.einsum("ast,t->sa", P, V)
        new, pi = Qsa.max(dim=1)
        delta = (new - V).abs().max()
        V = new
        sweeps += 1
        if delta < 1e-6:
            break
    policy = T.zeros(S, dtype=T.int64)
    rounds = 0
    while True:
        Ppi = P[policy, T.arange(S)]
        Rpi = R.gather(1, policy.unsqueeze(1)).squeeze(1)
        W = T.linalg.solve(T.eye(S, dtype=T.float64) - gamma * Ppi, Rpi)
        better = (R + gamma * (P @ W).T).argmax(1)
        rounds += 1
        if T.equal(better, policy):
            break
        policy = better
    return {
        "V": V.numpy(),
        "W": W.numpy(),
        "pi": pi.numpy(),
        "policy": policy.numpy(),
        "sweeps": sweeps,
        "rounds": rounds,
        "close": str(T.allclose(V, W, atol=1e-4)),
    }
