"""Mixed precision: autocast with a scaler of gradients, then models of float16 and bfloat16."""

TOL = (5e-2, 2e-2)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(41)
    m = nn.Sequential(nn.Linear(20, 48), nn.ReLU(), nn.Linear(48, 48), nn.Tanh(), nn.Linear(48, 4))
    with T.no_grad():
        for p in m.parameters():
            p.copy_(T.tensor(r.standard_normal(tuple(p.shape)) * 0.2, dtype=T.float32))
    X = T.tensor(r.standard_normal((96, 20)), dtype=T.float32)
    y = T.tensor(r.integers(0, 4, 96))
    scaler = T.amp.GradScaler("cpu", enabled=True, init_scale=128.0)
    opt = optim.AdamW(m.parameters(), lr=3e-3)
    losses = []
    for ep in range(3):
        for i in range(0, 96, 32):
            opt.zero_grad(set_to_none=True)
            with T.autocast(device_type="cpu", dtype=T.bfloat16):
                loss = F.cross_entropy(m(X[i : i + 32]), y[i : i + 32])
            scaler.scale(loss).backward()
            scaler.unscale_(opt)
            nn.utils.clip_grad_norm_(m.parameters(), 1.0)
            scaler.step(opt)
            scaler.update()
            losses.append(loss.item())
    h = m.half().eval()
    with T.no_grad():
        out = h(X.half())
    b = m.bfloat16()
    with T.inference_mode():
        out2 = b(X.bfloat16()).float()
    return {"losses": np.array(losses), "out": out.float(), "out2": out2, "d": str(out.dtype)}
