"""Model surgery: hooks that keep activations, Grad-CAM, saliency, freezing, replaced heads, parameter groups, summaries."""

TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(20)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.features = nn.Sequential(
                nn.Conv2d(1, 6, 3, padding=1),
                nn.BatchNorm2d(6),
                nn.ReLU(inplace=True),
                nn.MaxPool2d(2),
                nn.Conv2d(6, 12, 3, padding=1),
                nn.BatchNorm2d(12),
                nn.ReLU(),
                nn.AdaptiveAvgPool2d(4),
            )
            self.classifier = nn.Sequential(nn.Flatten(), nn.Linear(12 * 16, 5))

        def forward(self, x):
            return self.classifier(self.features(x))

    net = Net()
    with T.no_grad():
        for n, p in net.named_parameters():
            p.copy_(
                T.tensor(r.normal(size=tuple(p.shape))).float() * 0.2
                + (1 if ".1.weight" in n and "features" in n else 0)
            )
    x = T.tensor(r.normal(size=(6, 1, 16, 16))).float()
    kept = {}

    def keep(name):
        def hook(module, inputs, output):
            kept[name] = output.detach()

        return hook

    handles = [layer.register_forward_hook(keep(n)) for n, layer in net.features.named_children()]
    net(x)
    for handle in handles:
        handle.remove()
    net.eval()
    maps, grads = [], []
    target = net.features[6]
    h1 = target.register_forward_hook(lambda m, i, o: maps.append(o))
    h2 = target.register_full_backward_hook(lambda m, gi, go: grads.append(go[0]))
    x.requires_grad_(True)
    out = net(x)
    out[:, 2].sum().backward()
    h1.remove()
    h2.remove()
    cam = F.relu((grads[0].mean((2, 3), keepdim=True) * maps[0]).sum(1))
    saliency = x.grad.abs().amax(dim=1)
    for p in net.features.parameters():
        p.requires_grad = False
    net.classifier[1] = nn.Linear(192, 3)
    nn.init.constant_(net.classifier[1].weight, 0.01)
    nn.init.zeros_(net.classifier[1].bias)
    opt = optim.SGD(
        [
            {
                "params": [p for p in net.parameters() if p.requires_grad and p.ndim > 1],
                "weight_decay": 1e-2,
            },
            {"params": [net.classifier[1].bias], "lr": 0.05},
        ],
        lr=0.01,
        momentum=0.9,
    )
    sched = optim.lr_scheduler.StepLR(opt, 2, gamma=0.5)
    y = T.tensor([0, 1, 2, 0, 1, 2])
    losses = []
    for e in range(5):
        opt.zero_grad()
        loss = F.cross_entropy(net(x.detach()), y)
        loss.backward()
        opt.step()
        sched.step()
        losses.append(loss.item())
    shapes = ";".join(f"{k}:{tuple(v.shape)}" for k, v in net.state_dict().items())
    return {
        "shapes": shapes,
        "kept": np.array([v.mean().item() for v in kept.values()]),
        "cam": cam.detach().numpy(),
        "saliency": saliency.mean().item(),
        "losses": losses,
        "lr": [g["lr"] for g in opt.param_groups],
        "trainable": sum(p.numel() for p in net.parameters() if p.requires_grad),
    }
