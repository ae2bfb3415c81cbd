"""Simulated annealing on a tour: segments reversed, lengths compared, randomness from numpy."""

import math


def main(T, nn, F, optim, np):
    r = np.random.default_rng(123)
    cities = T.tensor(r.random((15, 2)))
    D = T.cdist(cities, cities)
    tour = T.arange(15)

    def length(t):
        return D[t, T.roll(t, -1)].sum()

    now = length(tour).item()
    best, best_tour, taken = now, tour.clone(), 0
    temperature = 1.0
    for step in range(150):
        i, j = sorted(r.choice(15, 2, replace=False).tolist())
        new = tour.clone()
        new[i:j + 1] = tour[i:j + 1].flip(0)
        cost = length(new).item()
        if cost < now - 1e-9 or r.random() < math.exp((now - cost) / temperature):
            tour, now = new, cost
            taken += 1
            if now < best - 1e-9:
                best, best_tour = now, tour.clone()
        temperature *= 0.97
    return {"best": best, "tour": best_tour.numpy(), "taken": taken, "order": str(best_tour.tolist())}
