"""Text without a net: tokens, vocabulary, TF-IDF, cosine search, naive Bayes, LSA by svd, PMI, n-grams, Levenshtein."""

import functools
import itertools
import operator
import re
from collections import Counter

TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    docs = [
        "The cat sat on the mat.",
        "Dogs and cats are friends; the dog barks.",
        "Stocks fell sharply on Monday!",
        "The market rallied as stocks rose.",
        "A cat chased a mouse.",
        "Investors sold stocks and bonds.",
    ]
    labels = T.tensor([0, 0, 1, 1, 0, 1])
    tokens = [re.findall(r"[a-z]+", d.lower()) for d in docs]
    vocab = {w: i for i, w in enumerate(sorted(set(functools.reduce(operator.iadd, tokens, []))))}
    tf = T.zeros(len(docs), len(vocab))
    for i, words in enumerate(tokens):
        for w, c in Counter(words).items():
            tf[i, vocab[w]] = c
    df = (tf > 0).sum(0)
    idf = T.log((1 + len(docs)) / (1 + df.float())) + 1
    X = F.normalize(tf * idf, dim=1)
    sim = X @ X.mT
    query = T.zeros(len(vocab))
    for w in ["cat", "and", "dog"]:
        query[vocab[w]] += 1
    scores = F.cosine_similarity(X, (query * idf)[None], dim=1)
    rank = scores.sort(descending=True)
    prior = T.bincount(labels).float().log()
    like = T.stack(
        [(tf[labels == c].sum(0) + 1) / (tf[labels == c].sum() + len(vocab)) for c in (0, 1)]
    ).log()
    nb = (tf @ like.T + prior).argmax(dim=1)
    U, S, Vh = T.linalg.svd(X, full_matrices=False)
    pairs = T.zeros(len(vocab), len(vocab))
    for words in tokens:
        ids = T.tensor([vocab[w] for w in words])
        for a, b in itertools.pairwise(ids):
            pairs[a, b] += 1
            pairs[b, a] += 1
    p = pairs / pairs.sum()
    m = p.sum(1)
    pmi = T.log(p / (m[:, None] * m[None])).nan_to_num(0.0, 0.0, 0.0).clamp(min=0)

    def distance(a, b):
        row = T.arange(len(b) + 1)
        for i, ca in enumerate(a, 1):
            new = T.zeros_like(row)
            new[0] = i
            for j, cb in enumerate(b, 1):
                new[j] = min(row[j] + 1, new[j - 1] + 1, row[j - 1] + (ca != cb))
            row = new
        return row[-1].item()

    return {
        "sim": sim.numpy(),
        "scores": rank.values.numpy(),
        "order": rank.indices[:3].numpy(),
        "nb": nb.numpy(),
        "S": S.numpy(),
        "pmi": pmi.sum().item(),
        "d": distance("kitten", "sitting"),
        "top": next(iter(X.max(1).indices)).item(),
    }
