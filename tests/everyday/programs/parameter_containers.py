"""Models of ParameterList, ParameterDict, ModuleDict and buffers, with weight decay by groups."""

TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(132)

    def value(*shape):
        return T.tensor((r.normal(size=shape) * 0.4).astype("float32"))

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.scales = nn.ParameterList([nn.Parameter(value(6)) for _ in range(3)])
            self.extra = nn.ParameterDict({"gain": nn.Parameter(T.ones(1)), "shift": nn.Parameter(T.zeros(1))})
            self.acts = nn.ModuleDict({"relu": nn.ReLU(), "tanh": nn.Tanh()})
            self.layers = nn.ModuleList([nn.Linear(6, 6) for _ in range(3)])
            self.register_buffer("calls", T.zeros((), dtype=T.long))

        def forward(self, x, act):
            self.calls += 1
            for scale, layer in zip(self.scales, self.layers):
                x = self.acts[act](layer(x)) * scale
            return x * self.extra["gain"] + self.extra["shift"]

    net = Net()
    for m in net.layers:
        m.weight.data.copy_(value(6, 6))
        nn.init.zeros_(m.bias)
    decay = [p for n, p in net.named_parameters() if n.endswith("weight")]
    plain = [p for n, p in net.named_parameters() if not n.endswith("weight")]
    opt = optim.AdamW([{"params": decay, "weight_decay": 0.1}, {"params": plain, "weight_decay": 0.0}], lr=0.01)
    x, y = value(20, 6), value(20, 6)
    losses = []
    for step in range(10):
        loss = F.smooth_l1_loss(net(x, "relu" if step % 2 else "tanh"), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    names = ",".join(n for n, _ in net.named_parameters())
    sizes = {k: tuple(v.shape) for k, v in net.state_dict().items()}
    return {"losses": losses, "names": names, "calls": net.calls.item(), "sizes": str(sizes),
            "gain": net.extra["gain"].item(), "repr": repr(net.acts)}
