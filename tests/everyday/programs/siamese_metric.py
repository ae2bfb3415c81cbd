"""A siamese net with contrastive and triplet losses, cosine similarities, hard mining, centres, prototypes."""

TOL = (2e-3, 1e-3)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(26)
    centres = r.normal(size=(4, 10)) * 2

    class Embed(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc1 = nn.Linear(10, 16, bias=False)
            self.bn = nn.BatchNorm1d(16)
            self.fc2 = nn.Linear(16, 4)

        def forward(self, x):
            return F.normalize(self.fc2(F.elu(self.bn(self.fc1(x)))), p=2, dim=1)

    net = Embed()
    net.fc1.weight.data = T.tensor(r.normal(size=(16, 10))).float() * 0.3
    net.fc2.weight.data = T.tensor(r.normal(size=(4, 16))).float() * 0.3
    net.fc2.bias.data.fill_(0.01)
    opt = optim.Adam(net.parameters(), lr=5e-3)
    triplet = nn.TripletMarginLoss(margin=0.5)
    cos = nn.CosineEmbeddingLoss(margin=0.2)
    curve = []
    for it in range(12):
        c = r.integers(0, 4, 24)
        x = T.tensor(centres[c] + r.normal(size=(24, 10))).float()
        y = T.tensor(c)
        e = net(x)
        d = T.cdist(e, e)
        same = y.unsqueeze(0) == y.unsqueeze(1)
        hardest_pos = (d * same).max(dim=1)[0]
        hardest_neg = (d + 10.0 * same).min(dim=1)[0]
        hard = F.relu(hardest_pos - hardest_neg + 0.3).mean()
        t = triplet(e[:8], e[8:16], e[16:])
        target = T.where(y[:12] == y[12:], T.tensor(1), T.tensor(-1))
        s = cos(e[:12], e[12:], target)
        sims = e @ e.T / 0.2
        mask = ~T.eye(24, dtype=T.bool)
        sup = -(F.log_softmax(sims.masked_fill(~mask, -1e9), 1) * (same & mask)).sum(1) / (
            same & mask
        ).sum(1).clamp(min=1)
        loss = hard + t + s + 0.1 * sup.mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        curve.append(loss.item())
    net.eval()
    with T.no_grad():
        support = T.tensor(centres).float()
        proto = net(support)
        c = r.integers(0, 4, 40)
        q = net(T.tensor(centres[c] + r.normal(size=(40, 10))).float())
        pred = F.cosine_similarity(q.unsqueeze(1), proto.unsqueeze(0), dim=-1).argmax(1)
        pd = F.pairwise_distance(q[:10], q[10:20])
    return {
        "curve": curve,
        "acc": (pred == T.tensor(c)).float().mean().item(),
        "pd": pd.numpy(),
        "mean": net.bn.running_mean.numpy(),
        "n": int(net.bn.num_batches_tracked),
    }
