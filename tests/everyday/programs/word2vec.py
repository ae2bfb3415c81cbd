"""Skip-gram with negative samples, then the nearest words by cosine similarity."""

TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(117)
    text = ("the quick brown fox jumps over the lazy dog while the quick cat sleeps " * 4).split()
    words = sorted(set(text))
    index = {w: i for i, w in enumerate(words)}
    ids = [index[w] for w in text]
    pairs = T.tensor([(ids[i], ids[j]) for i in range(len(ids))
                      for j in range(max(0, i - 2), min(len(ids), i + 3)) if i != j])
    V, D = len(words), 8
    center, context = nn.Embedding(V, D, sparse=False), nn.Embedding(V, D)
    center.weight.data = T.tensor(r.uniform(-0.1, 0.1, (V, D)).astype("float32"))
    context.weight.data = T.tensor(r.uniform(-0.1, 0.1, (V, D)).astype("float32"))
    opt = optim.Adagrad([center.weight, context.weight], lr=0.1)
    losses = []
    for epoch in range(3):
        for i in range(0, len(pairs), 32):
            c, o = pairs[i:i + 32].unbind(1)
            neg = T.tensor(r.integers(0, V, (len(c), 5)))
            v = center(c)
            positive = F.logsigmoid((v * context(o)).sum(1))
            negative = F.logsigmoid(-T.bmm(context(neg), v.unsqueeze(2)).squeeze(2)).sum(1)
            loss = -(positive + negative).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            losses.append(loss.item())
    w = F.normalize(center.weight.detach(), dim=1)
    near = F.cosine_similarity(w[index["quick"]].unsqueeze(0), w)
    top = near.topk(3).indices
    return {"losses": losses, "near": near.numpy(), "names": " ".join(words[i] for i in top)}
