"""Logistic regression with L-BFGS and a closure."""

TOL = (1e-2, 1e-3)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(109)
    x = T.tensor(r.normal(size=(60, 4)))
    y = (x @ T.tensor([1.0, -2.0, 0.5, 0.0], dtype=T.double) + 0.3 > 0).double()
    model = nn.Linear(4, 1).double()
    nn.init.zeros_(model.weight)
    nn.init.zeros_(model.bias)
    opt = optim.LBFGS(model.parameters(), lr=0.5, max_iter=8)
    calls = 0

    def closure():
        nonlocal calls
        calls += 1
        opt.zero_grad()
        loss = F.binary_cross_entropy_with_logits(model(x).squeeze(-1), y)
        loss = loss + 1e-2 * model.weight.pow(2).sum()
        loss.backward()
        return loss

    losses = [float(opt.step(closure)) for _ in range(4)]
    right = ((model(x).squeeze(-1) > 0) == (y > 0.5)).double().mean()
    return {"losses": losses, "calls": calls, "right": right.item(), "w": model.weight.detach().numpy()}
