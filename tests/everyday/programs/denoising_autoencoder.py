"""An autoencoder whose inputs are damaged by fixed masks, with a sparse penalty on the code."""

TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(112)
    x = T.from_numpy(np.abs(r.normal(size=(48, 24))).astype("float32")).clamp(max=1.0)
    encoder = nn.Sequential(nn.Linear(24, 12), nn.LeakyReLU(0.1), nn.Linear(12, 4), nn.Sigmoid())
    decoder = nn.Sequential(nn.Linear(4, 12), nn.ELU(), nn.Linear(12, 24))
    both = nn.ModuleList([encoder, decoder])
    for p in both.parameters():
        nn.init.constant_(p, 0.0)
        p.data += T.from_numpy((r.normal(size=tuple(p.shape)) * 0.3).astype("float32"))
    opt = optim.Adam(both.parameters(), lr=5e-3)
    losses = []
    for epoch in range(6):
        order = T.from_numpy(r.permutation(48))
        for batch in x[order].split(16):
            mask = T.from_numpy(r.random(batch.shape) > 0.3)
            code = encoder(batch * mask)
            loss = F.mse_loss(decoder(code), batch) + 1e-3 * code.abs().mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            losses.append(loss.item())
    both.eval()
    with T.inference_mode():
        out = decoder(encoder(x))
    return {"losses": losses, "out": out.numpy(), "text": f"{losses[-1]:.2f}"}
