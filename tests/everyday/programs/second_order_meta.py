"""Second derivatives: Hessian-vector products, curvature by power iteration, gradient penalty."""

TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(12)
    net = nn.Sequential(nn.Linear(3, 10), nn.Softplus(), nn.Linear(10, 1))
    for p in net.parameters():
        p.data.copy_(T.tensor(r.normal(size=tuple(p.shape)) * 0.4))
    x = T.tensor(r.normal(size=(16, 3)).astype("float32"))
    y = x.sum(1, keepdim=True).sin()
    params = list(net.parameters())
    v = [T.ones_like(p) for p in params]
    eigs = []
    for it in range(8):
        loss = F.mse_loss(net(x), y)
        g = T.autograd.grad(loss, params, create_graph=True)
        hv = T.autograd.grad(sum((a * b).sum() for a, b in zip(g, v)), params)
        norm = T.sqrt(sum((h**2).sum() for h in hv))
        v = [h / norm for h in hv]
        eigs.append(norm.item())
    opt = optim.Adagrad(params, lr=0.05)
    log = []
    for it in range(8):
        xr = x.clone().requires_grad_()
        out = net(xr)
        (gi,) = T.autograd.grad(out.sum(), xr, create_graph=True)
        pen = ((gi.norm(2, dim=1) - 1) ** 2).mean()
        loss = F.mse_loss(out, y) + 0.1 * pen
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.append([loss.item(), pen.item()])
    H = T.autograd.functional.hessian(lambda a: net(a).sum(), x[0])
    J = T.autograd.functional.jacobian(lambda a: net(a)[:, 0], x[:3])
    return {"eigs": eigs, "log": log, "H": H.numpy(), "J": J.numpy()}
