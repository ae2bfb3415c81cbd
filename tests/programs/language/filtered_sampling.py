"""Logits filtered by temperature, top-k, nucleus and repetition, as samplers do."""

import torch
import torch.nn.functional as F

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


def top_k_top_p(logits, top_k, top_p):
    if top_k > 0:
        kth = torch.topk(logits, top_k)[0][..., -1, None]
        logits = logits.masked_fill(logits < kth, -float("Inf"))
    ordered, indices = torch.sort(logits, descending=True)
    cumulative = torch.cumsum(F.softmax(ordered, dim=-1), dim=-1)
    remove = cumulative > top_p
    remove[..., 1:] = remove[..., :-1].clone()
    remove[..., 0] = False
    remove = remove.scatter(1, indices, remove)
    return logits.masked_fill(remove, float("-inf"))


def main(capture=lambda step: step):
    draws = Draws()
    logits, seen = draws.normal(3, 12) * 2, draws.integers(12, 3, 4)
    score = torch.gather(logits, 1, seen)
    score = torch.where(score < 0, score * 1.2, score / 1.2)
    logits = logits.scatter(1, seen, score) / 0.8
    kept = top_k_top_p(logits, 8, 0.9)
    probs = F.softmax(kept, dim=-1)
    gumbel = -torch.log(-torch.log(draws.uniform(3, 12).clamp(1e-6, 1 - 1e-6)))
    chosen = (kept + gumbel).argmax(-1)
    entropy = -(probs * probs.clamp_min(1e-9).log()).sum(-1)
    return {"probs": probs, "chosen": chosen, "count": (probs > 0).sum(-1), "entropy": entropy}


if __name__ == "__main__":
    show(main())
