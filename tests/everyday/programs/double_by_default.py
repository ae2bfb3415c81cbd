"""The default dtype set to float64 for a small network, a spline and a check of gradients."""

TOL = (1e-6, 1e-9)


def main(T, nn, F, optim, np):
    T.set_default_dtype(T.float64)
    try:
        r = np.random.default_rng(154)
        net = nn.Sequential(nn.Linear(3, 8), nn.LayerNorm(8), nn.Softplus(), nn.Linear(8, 1))
        with T.no_grad():
            for p in net.parameters():
                p.copy_(T.from_numpy(r.normal(size=tuple(p.shape)) * 0.4))
        x, y = T.tensor(r.normal(size=(20, 3))), T.tensor(r.normal(size=(20, 1)))
        opt = optim.SGD(net.parameters(), lr=0.1, weight_decay=1e-3)
        losses = []
        for _ in range(15):
            opt.zero_grad()
            loss = F.mse_loss(net(x), y)
            loss.backward()
            opt.step()
            losses.append(loss.item())
        w = net[0].weight
        numeric = T.zeros_like(w)
        with T.no_grad():
            for i in range(w.shape[0]):
                for j in range(w.shape[1]):
                    old = w[i, j].item()
                    w[i, j] = old + 1e-6
                    high = F.mse_loss(net(x), y)
                    w[i, j] = old - 1e-6
                    low = F.mse_loss(net(x), y)
                    w[i, j] = old
                    numeric[i, j] = (high - low) / 2e-6
        opt.zero_grad()
        F.mse_loss(net(x), y).backward()
        close = T.allclose(numeric, w.grad, rtol=1e-4, atol=1e-7)
        return {"losses": losses, "close": int(close), "w": w.detach().numpy(), "dtype": str(net[1].bias.dtype)}
    finally:
        T.set_default_dtype(T.float32)
