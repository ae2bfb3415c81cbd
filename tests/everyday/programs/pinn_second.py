"""A physics-informed net: second derivatives by autograd.grad with create_graph."""
TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(53)
    net = nn.Sequential(nn.Linear(2, 20), nn.Tanh(), nn.Linear(20, 20), nn.Tanh(), nn.Linear(20, 1))
    for p in net.parameters():
        p.data.copy_(T.tensor(r.normal(size=tuple(p.shape)) * 0.4))
    opt = optim.Adam(net.parameters(), lr=1e-3)
    hist = []
    for _ in range(4):
        x = T.tensor(r.random((50, 1)), dtype=T.float32, requires_grad=True)
        t = T.tensor(r.random((50, 1)), dtype=T.float32, requires_grad=True)
        u = net(T.cat([x, t], 1))
        ux, ut = T.autograd.grad(u, (x, t), grad_outputs=T.ones_like(u), create_graph=True)
        uxx = T.autograd.grad(ux.sum(), x, create_graph=True)[0]
        res = ut + u * ux - 0.01 / np.pi * uxx
        x0 = T.tensor(r.random((20, 1)), dtype=T.float32)
        u0 = net(T.cat([x0, T.zeros_like(x0)], 1))
        loss = res.square().mean() + (u0 + T.sin(np.pi * x0)).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        hist.append(loss.item())
    return {"hist": hist, "uxx": uxx[:5].detach().numpy()}
