"""A byte-pair tokenizer: pair counts by torch.unique, merges by masks; the ids as tensors."""


def main(T, nn, F, optim, np):
    text = "low lower lowest newer newest wide wider widest low low new new" * 3
    ids = T.tensor(list(text.encode()), dtype=T.long)
    vocab = 256
    merges = []
    for _ in range(12):
        pairs = ids[:-1] * 1000 + ids[1:]
        values, counts = T.unique(pairs, return_counts=True)
        best = values[counts.argmax()].item()
        a, b = divmod(best, 1000)
        out, i, flat = [], 0, ids.tolist()
        while i < len(flat):
            if i + 1 < len(flat) and flat[i] == a and flat[i + 1] == b:
                out.append(vocab)
                i += 2
            else:
                out.append(flat[i])
                i += 1
        ids = T.tensor(out)
        merges.append((a, b, counts.max().item()))
        vocab += 1
    hist = T.bincount(ids, minlength=vocab)
    return {"merges": merges, "ids": ids.numpy(), "hist": hist.numpy(), "ratio": len(text) / ids.numel()}
