"""A tagger with transitions between tags: its likelihood by sums over paths, and the best path."""

import torch
from torch import nn

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


class Tagger(nn.Module):
    def __init__(self, words, tags, width):
        super().__init__()
        self.table = nn.Embedding(words, width)
        self.lstm = nn.LSTM(width, width // 2, bidirectional=True)
        self.to_tags = nn.Linear(width, tags)
        self.transitions = nn.Parameter(torch.zeros(tags, tags))

    def scores(self, sentence):
        out, _ = self.lstm(self.table(sentence).unsqueeze(1))
        return self.to_tags(out.squeeze(1))

    def total(self, scores):
        alpha = scores[0]
        for row in scores[1:]:
            alpha = torch.logsumexp(alpha.unsqueeze(1) + self.transitions, 0) + row
        return torch.logsumexp(alpha, 0)

    def loss(self, sentence, tags):
        scores = self.scores(sentence)
        path = scores[torch.arange(len(tags)), tags].sum()
        path = path + self.transitions[tags[:-1], tags[1:]].sum()
        return self.total(scores) - path

    def viterbi(self, sentence):
        scores = self.scores(sentence)
        best, steps = scores[0], []
        for row in scores[1:]:
            values, choice = (best.unsqueeze(1) + self.transitions).max(0)
            best = values + row
            steps.append(choice)
        path = [best.argmax().item()]
        for choice in reversed(steps):
            path.append(choice[path[-1]].item())
        path.reverse()
        return best.max(), path


def main():
    draws = Draws()
    model = draws.fill(Tagger(12, 3, 8))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, weight_decay=1e-4)
    sentence, tags = draws.integers(12, 7), draws.integers(3, 7)
    losses = []
    for _ in range(4):
        model.zero_grad()
        loss = model.loss(sentence, tags)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    with torch.no_grad():
        score, path = model.viterbi(sentence)
    return {"losses": losses, "score": score, "path": path, "transitions": model.transitions}


if __name__ == "__main__":
    show(main())
