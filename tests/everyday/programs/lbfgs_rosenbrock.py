"""L-BFGS with a line search."""

TOL = (1e-2, 1e-3)


def main(T, nn, F, optim, np):
    x = T.tensor([-1.2, 1.0, 0.5, 2.0], requires_grad=True)
    opt = optim.LBFGS([x], lr=0.5, max_iter=10, history_size=5, line_search_fn="strong_wolfe")
    hist = []

    def closure():
        opt.zero_grad()
        loss = (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()
        loss.backward()
        return loss

    for _ in range(6):
        hist.append(opt.step(closure).item())
    return {"x": x.detach(), "hist": np.array(hist)}
