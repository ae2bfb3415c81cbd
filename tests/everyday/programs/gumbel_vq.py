"""Gumbel-softmax with straight-through estimation, fixed noise; temperature annealed."""

TOL = (1e-3, 1e-3)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(14)
    enc = nn.Linear(6, 12)
    dec = nn.Linear(12, 6)
    for m in (enc, dec):
        nn.init.constant_(m.bias, 0.0)
        m.weight.data.copy_(T.tensor(r.normal(size=tuple(m.weight.shape)) * 0.4))
    x = T.tensor(r.random((24, 6)).astype("float32"))
    opt = optim.Adam(
        [{"params": enc.parameters()}, {"params": dec.parameters(), "lr": 5e-3}], lr=1e-2
    )
    log = []
    for step in range(15):
        tau = max(0.5, 1.0 * 0.9**step)
        logits = enc(x).view(24, 3, 4)
        u = T.tensor(r.random((24, 3, 4)).astype("float32")).clamp(1e-6, 1 - 1e-6)
        y = F.softmax((logits - T.log(-T.log(u))) / tau, dim=-1)
        hard = T.zeros_like(y).scatter_(-1, y.argmax(-1, keepdim=True), 1.0)
        z = hard - y.detach() + y
        recon = T.sigmoid(dec(z.flatten(1)))
        q = F.softmax(logits, -1)
        kl = (q * (T.log(q + 1e-10) - np.log(0.25))).sum((1, 2)).mean()
        loss = F.binary_cross_entropy(recon, x, reduction="sum") / 24 + 0.1 * kl
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        log.append(loss.item())
    codes = enc(x).view(24, 3, 4).argmax(-1)
    return {"log": log, "codes": codes.numpy(), "w": dec.weight.detach()[0].numpy()}
