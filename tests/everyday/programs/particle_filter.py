"""A particle filter that draws again by cumulative weights."""


def main(T, nn, F, optim, np):
    r = np.random.default_rng(3)
    N, steps = 300, 25
    noise = T.from_numpy(r.standard_normal((steps, N)).astype(np.float32))
    us = r.random(steps).astype(np.float32)
    particles = noise[0] * 2
    truth, estimates, ess = 0.0, [], []
    for t in range(1, steps):
        truth = 0.5 * truth + 0.3 * t % 3
        particles = 0.5 * particles + 0.3 * t % 3 + 0.2 * noise[t]
        logw = -0.5 * ((truth - particles) / 0.5) ** 2
        w = T.softmax(logw, 0)
        estimates.append((w * particles).sum())
        ess.append(1 / (w**2).sum())
        positions = (T.arange(N) + float(us[t])) / N
        index = T.searchsorted(T.cumsum(w, 0), positions).clamp(max=N - 1)
        particles = particles[index]
    return {"estimates": T.stack(estimates), "ess": T.stack(ess)}
