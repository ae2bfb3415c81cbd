"""A hidden Markov model: forward-backward in logs, Baum-Welch, sampling of states with numpy."""
TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(34)
    obs = T.tensor(np.repeat(r.integers(0, 3, 20), r.integers(1, 5, 20)))
    S, V, n = 3, 3, len(obs)
    A = T.tensor(r.dirichlet(np.ones(S) * 5, S)).log()
    B = T.tensor(r.dirichlet(np.ones(V) * 5, S)).log()
    pi = T.full((S,), 1 / S, dtype=T.float64).log()
    likes = []
    for it in range(4):
        alpha, beta = T.zeros(n, S, dtype=T.float64), T.zeros(n, S, dtype=T.float64)
        alpha[0] = pi + B[:, obs[0]]
        for t in range(1, n):
            alpha[t] = T.logsumexp(alpha[t - 1].unsqueeze(1) + A, dim=0) + B[:, obs[t]]
        for t in range(n - 2, -1, -1):
            beta[t] = T.logsumexp(A + B[:, obs[t + 1]] + beta[t + 1], dim=1)
        total = T.logsumexp(alpha[-1], 0)
        gamma = alpha + beta - total
        xi = alpha[:-1, :, None] + A + B[:, obs[1:]].T[:, None, :] + beta[1:, None, :] - total
        A = T.logsumexp(xi, 0) - T.logsumexp(gamma[:-1], 0)[:, None]
        onehot = F.one_hot(obs, V).double()
        B = (gamma.exp().T @ onehot / gamma.exp().sum(0)[:, None]).log()
        pi = gamma[0]
        likes.append(total.item())
    return {"likes": likes, "A": A.exp().numpy(), "B": B.exp().numpy(), "path": gamma.argmax(1).numpy()}
