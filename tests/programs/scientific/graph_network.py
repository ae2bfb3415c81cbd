"""A graph convolution over edge lists, as in introductions to graph networks."""

import torch

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


def main(capture=lambda step: step):
    draws = Draws()
    nn, F = torch.nn, torch.nn.functional
    edges = torch.tensor([[0, 1, 1, 2, 3, 4, 0], [1, 0, 2, 1, 4, 3, 4]], dtype=torch.long)
    loops = torch.arange(0, 5).unsqueeze(0).repeat(2, 1)
    row, column = torch.cat([edges, loops], dim=1)
    degree = torch.zeros(5).scatter_add_(0, column, torch.ones(column.size(0)))
    norm = degree.pow(-0.5)[row] * degree.pow(-0.5)[column]

    class Convolution(nn.Module):
        def __init__(self, inputs: int, outputs: int):
            super().__init__()
            self.weight = nn.Parameter(torch.Tensor(inputs, outputs))
            nn.init.zeros_(self.weight)

        def forward(self, x):
            x = x @ self.weight
            return torch.zeros_like(x).index_add_(0, column, norm.view(-1, 1) * x[row])

    first, second = draws.fill(Convolution(3, 4)), draws.fill(Convolution(4, 2))
    x, labels = draws.normal(5, 3), torch.tensor([0, 1, 0, 1, 0])
    mask = torch.tensor([True, True, False, True, False])
    optimizer = torch.optim.Adam(
        [*first.parameters(), *second.parameters()], lr=0.05, weight_decay=5e-4
    )
    for _ in range(3):
        optimizer.zero_grad()
        out = F.log_softmax(second(F.relu(first(x))), dim=1)
        loss = F.nll_loss(out[mask], labels[mask])
        loss.backward()
        optimizer.step()
    accuracy = (out.argmax(1)[~mask] == labels[~mask]).float().mean()
    return {"loss": loss, "out": out, "accuracy": accuracy, "degree": degree}

if __name__ == "__main__":
    show(main())
