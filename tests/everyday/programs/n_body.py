"""Planets under gravity by the leapfrog rule; energy is watched."""

TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(124)
    n = 8
    pos = T.tensor(r.normal(size=(n, 3)))
    vel = T.tensor(r.normal(size=(n, 3)) * 0.1)
    mass = T.tensor(r.random((n, 1)) + 0.5)

    def acceleration(p):
        diff = p.unsqueeze(0) - p.unsqueeze(1)
        inv = (diff.pow(2).sum(-1) + 0.01).pow(-1.5)
        return (diff * inv.unsqueeze(-1) * mass.unsqueeze(0)).sum(1)

    def energy(p, v):
        kinetic = 0.5 * (mass * v ** 2).sum()
        dist = T.sqrt(((p[:, None] - p[None]) ** 2).sum(-1) + 0.01)
        i, j = T.triu_indices(n, n, offset=1)
        return kinetic - (mass[i, 0] * mass[j, 0] / dist[i, j]).sum()

    acc, energies, dt = acceleration(pos), [], 0.01
    for step in range(60):
        vel += 0.5 * dt * acc
        pos += dt * vel
        acc = acceleration(pos)
        vel += 0.5 * dt * acc
        if step % 10 == 0:
            energies.append(energy(pos, vel).item())
    centre = (mass * pos).sum(0) / mass.sum()
    return {"pos": pos.numpy(), "energies": energies, "centre": centre.numpy()}
