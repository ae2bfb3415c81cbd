"""A checkerboard Metropolis sampler of the Ising model, random numbers from numpy."""


def main(T, nn, F, optim, np):
    r = np.random.default_rng(4)
    n = 24
    spins = T.from_numpy(r.choice([-1, 1], (n, n))).float()
    i, j = np.indices((n, n))
    black = T.tensor((i + j) % 2 == 0)
    mags, energies = [], []
    for sweep in range(30):
        for mask in (black, ~black):
            near = spins.roll(1, 0) + spins.roll(-1, 0) + spins.roll(1, 1) + spins.roll(-1, 1)
            dE = 2 * spins * near
            accept = T.from_numpy(r.random((n, n)).astype("float32")) < T.exp(-dE / 2.0)
            spins = T.where(accept & mask, -spins, spins)
        mags.append(spins.mean().abs().item())
        energies.append(-(spins * (spins.roll(1, 0) + spins.roll(1, 1))).sum().item() / n ** 2)
    return {"m": mags, "e": energies, "spins": spins.to(T.int8).numpy()}
