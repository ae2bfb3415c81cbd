"""A data set of the program's own, batches made by a function, epochs with evaluation between."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


class Ramp(Dataset):
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return {"x": torch.tensor([i / self.n, 1.0]), "y": i % 3, "name": f"row{i}"}


def main(capture=lambda step: step):
    draws = Draws()
    model = draws.fill(nn.Linear(2, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    loader = DataLoader(Ramp(10), batch_size=4, shuffle=False, drop_last=False)
    held = DataLoader(Subset(Ramp(10), [1, 4, 7]), batch_size=2)
    history, names = [], []
    for epoch in range(2):
        model.train()
        for batch in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(batch["x"]), batch["y"])
            loss.backward()
            optimizer.step()
            names += batch["name"] if epoch == 0 else []
        model.eval()
        total, correct = 0.0, 0
        with torch.no_grad():
            for batch in held:
                out = F.log_softmax(model(batch["x"]), dim=1)
                total += F.nll_loss(out, batch["y"], reduction="sum").item()
                predicted = out.argmax(dim=1, keepdim=True)
                correct += predicted.eq(batch["y"].view_as(predicted)).sum().item()
        history.append((total / len(held.dataset), correct))
    pairs = TensorDataset(torch.arange(6).view(6, 1), torch.arange(6))
    padded = DataLoader(pairs, 4, collate_fn=lambda rows: torch.stack([r[1] for r in rows]))
    return {"history": history, "names": ",".join(names), "batches": len(loader),
            "padded": torch.cat(list(padded))}


if __name__ == "__main__":
    show(main())
