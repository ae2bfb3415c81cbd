"""A small CNN on 8 by 8 digits drawn by hand, with pooling, dropout in eval mode, and accuracy."""

TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(114)
    shapes = r.random((4, 8, 8)) > 0.5
    labels = r.integers(0, 4, 64)
    x = T.tensor((shapes[labels] + 0.3 * r.normal(size=(64, 8, 8))).astype("float32")).unsqueeze(1)
    y = T.tensor(labels)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1 = nn.Conv2d(1, 6, 3)
            self.conv2 = nn.Conv2d(6, 8, 3, padding=1)
            self.drop = nn.Dropout(0.0)
            self.fc1 = nn.Linear(8 * 3 * 3, 20)
            self.fc2 = nn.Linear(20, 4)

        def forward(self, x):
            x = F.relu(self.conv1(x))
            x = F.max_pool2d(F.relu(self.conv2(x)), 2)
            x = T.flatten(x, 1)
            return F.log_softmax(self.fc2(self.drop(F.relu(self.fc1(x)))), dim=1)

    net = Net()
    with T.no_grad():
        for p in net.parameters():
            p.uniform_(0, 1)
            p.copy_(T.tensor((r.normal(size=tuple(p.shape)) * 0.2).astype("float32")))
    opt = optim.SGD(net.parameters(), lr=0.02, momentum=0.9, nesterov=True)
    losses, right = [], []
    for epoch in range(2):
        net.train()
        for i in range(0, 64, 16):
            opt.zero_grad()
            loss = F.nll_loss(net(x[i:i + 16]), y[i:i + 16])
            loss.backward()
            opt.step()
            losses.append(loss.item())
        net.eval()
        with T.no_grad():
            pred = net(x).argmax(dim=1, keepdim=True)
            right.append(pred.eq(y.view_as(pred)).sum().item())
    return {"losses": losses, "right": right}
