"""A physics-informed network: derivatives by autograd.grad with create_graph in the loss."""

TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(153)
    net = nn.Sequential(nn.Linear(1, 12), nn.Tanh(), nn.Linear(12, 12), nn.Tanh(), nn.Linear(12, 1))
    for p in net.parameters():
        p.data = T.tensor((r.normal(size=tuple(p.shape)) * 0.5).astype("float32"))
    t = T.linspace(0, 2, 20).view(-1, 1).requires_grad_(True)
    start = T.zeros(1, 1, requires_grad=True)
    opt = optim.Adam(net.parameters(), lr=0.01)
    losses = []
    for step in range(6):
        u = net(t)
        du = T.autograd.grad(u, t, grad_outputs=T.ones_like(u), create_graph=True)[0]
        ddu = T.autograd.grad(du, t, grad_outputs=T.ones_like(du), create_graph=True)[0]
        u0 = net(start)
        du0 = T.autograd.grad(u0.sum(), start, create_graph=True)[0]
        loss = (ddu + 0.2 * du + 4 * u).pow(2).mean() + (u0 - 1).pow(2).squeeze() + du0.pow(2).squeeze()
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    return {"losses": losses, "u": u.detach().numpy()}
