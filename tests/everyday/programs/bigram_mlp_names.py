"""makemore in small: bigram counts, a trigram MLP by hand with its own batch norm, kaiming scales, manual backward."""

TOL = (2e-3, 1e-3)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(16)
    words = ["".join(r.choice(list("abcde"), r.integers(3, 8))) for _ in range(60)]
    chars = sorted(set("".join(words)))
    stoi = {s: i + 1 for i, s in enumerate(chars)}
    stoi["."] = 0
    N = T.zeros((6, 6), dtype=T.int32)
    for w in words:
        for a, b in zip("." + w, w + "."):
            N[stoi[a], stoi[b]] += 1
    P = (N + 1).float()
    P /= P.sum(1, keepdims=True)
    logl, n = 0.0, 0
    for w in words[:15]:
        for a, b in zip("." + w, w + "."):
            logl += T.log(P[stoi[a], stoi[b]])
            n += 1
    X, Y = [], []
    for w in words:
        context = [0] * 3
        for ch in w + ".":
            X.append(context)
            Y.append(stoi[ch])
            context = [*context[1:], stoi[ch]]
    X, Y = T.tensor(X), T.tensor(Y)

    def t(*shape):
        return T.tensor(r.normal(size=shape), dtype=T.float32)

    C, W1, W2, b2 = t(6, 4), t(12, 20) * (5 / 3) / 12**0.5, t(20, 6) * 0.01, t(6) * 0
    gain, bias = T.ones((1, 20)), T.zeros((1, 20))
    mean_run, std_run = T.zeros((1, 20)), T.ones((1, 20))
    parameters = [C, W1, W2, b2, gain, bias]
    for p in parameters:
        p.requires_grad = True
    losses = []
    for i in range(40):
        ix = T.tensor(r.integers(0, X.shape[0], (32,)))
        emb = C[X[ix]]
        hpre = emb.view(emb.shape[0], -1) @ W1
        m, s = hpre.mean(0, keepdim=True), hpre.std(0, keepdim=True)
        h = T.tanh(gain * (hpre - m) / (s + 1e-5) + bias)
        with T.no_grad():
            mean_run = 0.9 * mean_run + 0.1 * m
            std_run = 0.9 * std_run + 0.1 * s
        logits = h @ W2 + b2
        loss = F.cross_entropy(logits, Y[ix])
        for p in parameters:
            p.grad = None
        loss.backward()
        lr = 0.1 if i < 30 else 0.01
        for p in parameters:
            p.data += -lr * p.grad
        losses.append(loss.log10().item())
    # by hand: the gradient of cross entropy
    logits = logits.detach()
    probs = F.softmax(logits, 1)
    probs[range(32), Y[ix]] -= 1
    probs /= 32
    dW2 = h.detach().T @ probs
    return {
        "nll": (-logl / n).item(),
        "losses": losses,
        "close": T.allclose(dW2, W2.grad, atol=1e-5),
        "dead": (h.abs() > 0.99).float().mean().item(),
        "std": std_run.numpy(),
    }
