"""A hidden Markov model: the forward algorithm in log space, trained by gradient."""

TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(106)
    seen = r.integers(0, 4, (3, 20))
    start = nn.Parameter(T.zeros(3))
    trans = nn.Parameter(T.tensor(r.normal(size=(3, 3)).astype("float32")))
    emit = nn.Parameter(T.tensor(r.normal(size=(3, 4)).astype("float32")))
    opt = optim.SGD([start, trans, emit], lr=0.05, momentum=0.9)
    x = T.as_tensor(seen)

    def likelihood():
        a, e = trans.log_softmax(1), emit.log_softmax(1)
        alpha = start.log_softmax(0) + e[:, x[:, 0]].t()
        for t in range(1, x.shape[1]):
            alpha = T.logsumexp(alpha.unsqueeze(2) + a, dim=1) + e[:, x[:, t]].t()
        return alpha.logsumexp(1)

    values = []
    for _ in range(6):
        opt.zero_grad()
        loss = -likelihood().mean()
        loss.backward()
        opt.step()
        values.append(loss.item())
    with T.no_grad():
        final = likelihood()
    return {"values": values, "final": final.numpy(), "emit": emit.softmax(1).detach().numpy()}
