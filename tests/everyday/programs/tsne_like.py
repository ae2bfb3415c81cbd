"""A t-SNE-like embedding: Gaussian affinities, Student-t in the plane, gradient descent with momentum."""

TOL = (5e-2, 1e-3)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(120)
    x = T.tensor(np.concatenate([r.normal(size=(12, 5)) + 4 * k for k in range(3)]).astype("float32"))
    n = len(x)
    D = T.cdist(x, x).pow(2)
    P = T.exp(-D / 4)
    P.fill_diagonal_(0)
    P = P / P.sum(dim=1, keepdim=True)
    P = ((P + P.T) / (2 * n)).clamp(min=1e-12)
    Y = T.tensor((r.normal(size=(n, 2)) * 0.1).astype("float32"), requires_grad=True)
    velocity = T.zeros_like(Y)
    diag = T.eye(n, dtype=T.bool)
    kl = []
    for step in range(15):
        num = 1 / (1 + (Y.unsqueeze(1) - Y.unsqueeze(0)).pow(2).sum(-1))
        num = num.masked_fill(diag, 0.0)
        Q = (num / num.sum()).clamp_min(1e-12)
        loss = (P * (P.log() - Q.log())).sum()
        (grad,) = T.autograd.grad(loss, Y)
        with T.no_grad():
            velocity.mul_(0.5).sub_(grad, alpha=1.0)
            Y += velocity
            Y -= Y.mean(0)
        kl.append(loss.item())
    return {"kl": kl, "Y": Y.detach().numpy()}
