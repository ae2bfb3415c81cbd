"""torch.func: grad, vmap, jacrev, jacfwd, hessian, vjp, jvp, functional_call over small functions."""


def main(T, nn, F, optim, np):
    from importlib import import_module

    fn = import_module(T.__name__ + ".func")
    r = np.random.default_rng(11)

    def f(x):
        return (x**3).sum() + (x[0] * x[1]).sin()

    x = T.tensor([0.5, -1.0, 2.0])
    out = {
        "g": fn.grad(f)(x).numpy(),
        "h": fn.hessian(f)(x).numpy(),
        "j": fn.jacrev(lambda v: v * v.sum())(x).numpy(),
        "jf": fn.jacfwd(lambda v: T.stack([v.prod(), v.exp().sum()]))(x).numpy(),
    }
    A = T.tensor(r.normal(size=(5, 3)).astype("float32"))
    out["vm"] = fn.vmap(f)(A).numpy()
    out["pg"] = fn.vmap(fn.grad(f))(A).numpy()
    y, pull = fn.vjp(lambda v: v.tanh() * 2, x)
    out["vjp"] = pull(T.ones(3))[0].numpy()
    out["jvp"] = fn.jvp(lambda v: v**2, (x,), (T.tensor([1.0, 0.0, 2.0]),))[1].numpy()
    net = nn.Linear(3, 2)
    with T.no_grad():
        net.weight.copy_(A[:2])
        net.bias.zero_()
    params = {k: v.detach() for k, v in net.named_parameters()}

    def loss(p, a, b):
        return F.mse_loss(fn.functional_call(net, p, (a,)), b)

    gs = fn.grad(loss)(params, A, T.zeros(5, 2))
    out["fw"] = gs["weight"].numpy()
    per = fn.vmap(fn.grad(loss), in_dims=(None, 0, 0))(params, A[:, None], T.zeros(5, 1, 2))
    out["per"] = per["weight"].numpy()
    v, aux = fn.grad_and_value(f)(x)
    out["gv"] = v.numpy()
    out["val"] = aux.item()
    return out
