"""Beam search over a fixed table of transitions, with topk over flattened scores."""


def main(T, nn, F, optim, np):
    r = np.random.default_rng(104)
    V, width, steps = 12, 4, 15
    table = F.log_softmax(T.tensor(r.normal(size=(V, V)).astype("float32")) * 2, dim=-1)
    sequences = T.zeros(1, 1, dtype=T.long)
    scores = T.zeros(1)
    finished = []
    for step in range(steps):
        nxt = scores.unsqueeze(1) + table[sequences[:, -1]]
        best, index = nxt.view(-1).topk(min(width, nxt.numel()))
        beam, token = index // V, index % V
        sequences = T.cat([sequences[beam], token.unsqueeze(1)], dim=1)
        scores = best
        ended = token == V - 1
        for s, v in zip(sequences[ended], scores[ended]):
            finished.append((v.item() / len(s), s.tolist()))
        keep = ~ended
        if not keep.any():
            break
        sequences, scores = sequences[keep], scores[keep]
    finished.sort(key=lambda pair: -pair[0])
    text = "; ".join(" ".join(map(str, s)) for _, s in finished[:5])
    return {"text": text, "scores": scores.numpy(), "sequences": sequences.numpy(),
            "finished": [v for v, _ in finished[:5]] or [0.0]}
