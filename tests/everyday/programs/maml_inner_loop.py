"""Meta-learning on sine waves: an inner step by autograd.grad with create_graph, then an outer one."""

TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(110)
    shapes = [(8, 1), (8,), (1, 8), (1,)]
    weights = [T.tensor((r.normal(size=s) * 0.5).astype("float32"), requires_grad=True) for s in shapes]

    def net(x, w):
        return F.linear(T.tanh(F.linear(x, w[0], w[1])), w[2], w[3])

    opt = optim.Adam(weights, lr=0.01)
    outer = []
    for step in range(3):
        total = 0.0
        for task in range(2):
            shift = float(r.uniform(0, 3))
            x = T.tensor(r.uniform(-3, 3, (10, 1)).astype("float32"))
            y = T.sin(x + shift)
            inner = F.mse_loss(net(x[:5], weights), y[:5])
            grads = T.autograd.grad(inner, weights, create_graph=True)
            fast = [w - 0.1 * g for w, g in zip(weights, grads)]
            total = total + F.mse_loss(net(x[5:], fast), y[5:])
        opt.zero_grad()
        total.backward()
        opt.step()
        outer.append(total.item())
    return {"outer": outer, "w": weights[2].detach().numpy()}
