"""Graph attention: scores of pairs, masked by edges, several heads joined."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


class GAT(nn.Module):
    def __init__(self, features, hidden, heads, concat=True):
        super().__init__()
        self.heads, self.hidden, self.concat = heads, hidden, concat
        self.W = nn.Parameter(torch.empty(size=(features, hidden * heads)))
        self.a = nn.Parameter(torch.empty(size=(heads, 2 * hidden, 1)))

    def forward(self, h, adjacency):
        n = h.shape[0]
        hidden = torch.mm(h, self.W).view(n, self.heads, self.hidden).permute(1, 0, 2)
        source = torch.matmul(hidden, self.a[:, : self.hidden, :])
        target = torch.matmul(hidden, self.a[:, self.hidden :, :])
        e = F.leaky_relu(source + target.mT, 0.2)
        scores = torch.where(adjacency > 0, e, -9e16 * torch.ones_like(e))
        out = torch.matmul(F.softmax(scores, dim=-1), hidden)
        if self.concat:
            return out.permute(1, 0, 2).contiguous().view(n, self.heads * self.hidden)
        return out.mean(dim=0)


def main(capture=lambda step: step):
    draws = Draws()
    first, second = draws.fill(GAT(5, 3, 2)), draws.fill(GAT(6, 3, 1, concat=False))
    edges = torch.tensor([[0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 0]])
    adjacency = torch.zeros(6, 6)
    adjacency[edges[0], edges[1]] = 1
    adjacency = adjacency + adjacency.t() + torch.eye(6)
    h, y = draws.normal(6, 5), draws.integers(3, 6)
    optimizer = torch.optim.Adam([*first.parameters(), *second.parameters()], lr=1e-2)
    degree = torch.zeros(6).scatter_add_(0, edges[1], torch.ones(6))

    @capture
    def step(h):
        out = F.log_softmax(second(F.elu(first(h, adjacency)), adjacency), dim=1)
        loss = F.nll_loss(out[:4], y[:4])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.detach()

    losses = [step(h).item() for _ in range(3)]
    return {"losses": losses, "degree": degree, "W": first.W}


if __name__ == "__main__":
    show(main())
