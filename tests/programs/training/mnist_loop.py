"""An image classifier trained with DataLoader, a schedule and evaluation, as in the examples."""

import torch

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


def main(capture=lambda step: step):
    draws = Draws()
    nn, F = torch.nn, torch.nn.functional
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1 = nn.Conv2d(1, 4, 3, 1)
            self.dropout1 = nn.Dropout(0.0)
            self.fc1 = nn.Linear(36, 3)

        def forward(self, x):
            x = F.max_pool2d(F.relu(self.conv1(x)), 2)
            x = self.dropout1(torch.flatten(x, 1))
            return F.log_softmax(self.fc1(x), dim=1)

    model = draws.fill(Net()).to(device)
    images, labels = draws.normal(16, 1, 8, 8), torch.arange(16) % 3
    loader = torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(images, labels), batch_size=8, pin_memory=False
    )
    optimizer = torch.optim.Adadelta(model.parameters(), lr=1.0)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.7)
    losses = []
    for _ in range(2):
        model.train()
        for data, target in loader:
            data, target = data.to(device), target.to(device, non_blocking=True)
            optimizer.zero_grad()
            loss = F.nll_loss(model(data), target)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        scheduler.step()
    model.eval()
    with torch.no_grad():
        pred = model(images).argmax(dim=1, keepdim=True)
        correct = pred.eq(labels.view_as(pred)).sum().item()
    return {"losses": losses, "correct": correct, "rate": scheduler.get_last_lr()}

if __name__ == "__main__":
    show(main())
