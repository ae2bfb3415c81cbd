"""Bootstrap intervals, permutation tests, trimmed means, ranks and correlation."""


def main(T, nn, F, optim, np):
    r = np.random.default_rng(18)
    a = T.tensor(r.normal(0.0, 1, 40))
    b = T.tensor(r.normal(0.4, 1.2, 35))
    idx = T.tensor(r.integers(0, 40, (300, 40)))
    means = a[idx].mean(dim=1)
    lo, hi = T.quantile(means, T.tensor([0.025, 0.975], dtype=T.float64))
    meds = a[idx].median(1)[0]
    both = T.cat((a, b))
    obs = b.mean() - a.mean()
    count = 0
    for k in range(100):
        p = T.tensor(r.permutation(75))
        s = both[p]
        count += int((s[40:].mean() - s[:40].mean()).abs() >= obs.abs())
    ra = a[:35].argsort().argsort().double()
    rb = b.argsort().argsort().double()
    d = (ra - ra.mean()) * (rb - rb.mean())
    rho = d.sum() / (((ra - ra.mean()) ** 2).sum().sqrt() * ((rb - rb.mean()) ** 2).sum().sqrt())
    trimmed = a.sort()[0][4:-4].mean()
    mad = (a - a.median()).abs().median()
    z = (a - a.mean()) / a.std()
    skew = z.pow(3).mean()
    kurt = (z**4).mean() - 3
    ecdf = (a.unsqueeze(0) <= T.linspace(-2, 2, 9, dtype=T.float64).unsqueeze(1)).double().mean(1)
    ks = (
        ((a[None] <= both[:, None]).double().mean(1) - (b[None] <= both[:, None]).double().mean(1))
        .abs()
        .max()
    )
    return {
        "ci": [lo.item(), hi.item()],
        "med": meds.var().item(),
        "p": count / 100,
        "rho": rho.item(),
        "tr": trimmed.item(),
        "mad": mad.item(),
        "skew": skew.item(),
        "kurt": kurt.item(),
        "ecdf": ecdf.numpy(),
        "ks": ks.item(),
        "mode": T.mode(T.round(a))[0].item(),
        "kth": a.kthvalue(5).values.item(),
        "nan": T.nanmean(T.where(a > 0, a, float("nan"))).item(),
    }
