"""Models made from a configuration, with containers, groups and buffers."""

from dataclasses import dataclass, field, replace

TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    @dataclass(frozen=True)
    class Cfg:
        dims: tuple = (6, 12, 12, 3)
        act: str = "relu"
        lr: float = 0.05
        extra: dict = field(default_factory=dict)

    acts = {"relu": nn.ReLU, "gelu": nn.GELU, "elu": nn.ELU}

    class MLP(nn.Module):
        def __init__(self, c):
            super().__init__()
            self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(c.dims, c.dims[1:]))
            self.norms = nn.ModuleDict(
                {str(i): nn.LayerNorm(d) for i, d in enumerate(c.dims[1:-1])}
            )
            self.act = acts[c.act]()
            self.scale = nn.Parameter(T.ones(1))
            self.register_buffer("seen", T.zeros((), dtype=T.long))

        def forward(self, x):
            self.seen += len(x)
            for i, l in enumerate(self.layers):
                x = l(x)
                if str(i) in self.norms:
                    x = self.act(self.norms[str(i)](x))
            return x * self.scale

    r = np.random.default_rng(46)
    out = {}
    X = T.tensor(r.standard_normal((16, 6)), dtype=T.float32)
    for act in acts:
        c = replace(Cfg(), act=act)
        m = MLP(c)
        for i, p in enumerate(m.parameters()):
            p.data = T.sin(T.arange(p.numel()).float() + i).view_as(p) * 0.3
        o = optim.SGD(
            [{"params": m.layers.parameters()}, {"params": [m.scale], "lr": 0.01}],
            lr=c.lr,
            momentum=0.5,
        )
        for _ in range(3):
            loss = (
                m(X).pow(2).mean()
                + sum(p.abs().sum() for n, p in m.named_parameters() if n.endswith("weight")) * 1e-3
            )
            o.zero_grad()
            loss.backward()
            o.step()
        out[act] = loss.detach()
        out[act + "n"] = sum(p.numel() for p in m.parameters() if p.requires_grad)
        out[act + "s"] = m.seen
        out[act + "r"] = "|".join(m.state_dict().keys())
    out = {k: np.array(v) if isinstance(v, int) else v for k, v in out.items()}
    return out
