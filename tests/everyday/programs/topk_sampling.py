"""Top-k, top-p and temperature sampling from logits, with uniform numbers from numpy."""


def main(T, nn, F, optim, np):
    r = np.random.default_rng(136)
    V = 30
    table = T.tensor(r.normal(size=(V, V)).astype("float32")) * 2

    def pick(probs):
        u = T.tensor(float(r.random()))
        return int(T.searchsorted(probs.cumsum(-1), u).clamp(max=len(probs) - 1))

    token, out, sizes = 0, [], []
    for step in range(40):
        logits = table[token] / (0.7 + 0.01 * step)
        if step % 2:
            values, _ = T.topk(logits, 8)
            logits = logits.clone()
            logits[logits < values[-1]] = -float("inf")
            token = pick(F.softmax(logits, dim=-1))
        else:
            ordered, index = T.sort(logits, descending=True)
            total = F.softmax(ordered, dim=-1).cumsum(dim=-1)
            remove = total > 0.8
            remove[1:] = remove[:-1].clone()
            remove[0] = False
            mask = T.zeros_like(remove).scatter(0, index, remove)
            logits = logits.masked_fill(mask, float("-inf"))
            sizes.append((~mask).sum().item())
            token = pick(F.softmax(logits, dim=-1))
        out.append(token)
    return {"out": out, "sizes": sizes, "text": " ".join(map(str, out))}
