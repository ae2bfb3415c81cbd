"""What a module knows of itself: names, apply, buffers, hooks, deepcopy, freezing, state dicts, children, summaries."""


def main(T, nn, F, optim, np):
    import copy
    r = np.random.default_rng(56)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.ModuleList([nn.Linear(6, 6) for _ in range(3)])
            self.heads = nn.ModuleDict({"a": nn.Linear(6, 2), "b": nn.Linear(6, 3)})
            self.scale = nn.Parameter(T.ones(6))
            self.register_buffer("steps", T.tensor(0))
            self.register_buffer("tmp", T.zeros(2), persistent=False)
            self.acts = nn.ParameterList([nn.Parameter(T.zeros(1)) for _ in range(2)])

        def forward(self, x, which="a"):
            self.steps += 1
            for layer in self.body:
                x = F.relu(layer(x)) * self.scale + self.acts[0]
            return self.heads[which](x)

    net = Net()
    net.apply(lambda m: m.weight.data.copy_(T.tensor(r.normal(size=tuple(m.weight.shape)) * 0.4)) if isinstance(m, nn.Linear) else None)
    for n, p in net.named_parameters():
        if n.endswith("bias"):
            nn.init.constant_(p, 0.1)
    shapes, grads = [], []
    h1 = net.body[0].register_forward_hook(lambda m, i, o: shapes.append(list(o.shape)))
    h2 = net.body[1].register_full_backward_hook(lambda m, gi, go: grads.append(go[0].abs().sum().item()))
    h3 = net.register_forward_pre_hook(lambda m, args: (args[0] * 2,))
    x = T.tensor(r.normal(size=(4, 6)), dtype=T.float32)
    net(x).sum().backward()
    twin = copy.deepcopy(net)
    with T.no_grad():
        twin.scale.mul_(2)
    for h in (h1, h2, h3):
        h.remove()
    for p in net.body.parameters():
        p.requires_grad = False
    sd = net.state_dict()
    missing = net.load_state_dict({k: v for k, v in sd.items() if "heads" not in k}, strict=False)
    return {"names": " ".join(n for n, _ in net.named_parameters()), "mods": " ".join(n for n, _ in net.named_modules()), "kids": " ".join(n for n, _ in net.named_children()), "sd": " ".join(sd), "steps": net.steps.item(),
            "shapes": shapes, "grads": grads, "twin": [twin.scale.sum().item(), net.scale.sum().item()], "miss": " ".join(missing.missing_keys), "n": [sum(p.numel() for p in net.parameters()), sum(p.numel() for p in net.parameters() if p.requires_grad)],
            "y": net(x, which="b").detach().numpy(), "repr": repr(net), "buf": " ".join(n for n, _ in net.named_buffers()), "train": str(net.training) + str(net.eval().training)}
