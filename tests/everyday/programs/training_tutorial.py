"""The tutorial: TensorDataset, DataLoader, an nn.Module, train() and test() functions, accuracy, checkpoints kept in memory."""

import io

TOL = (2e-3, 1e-3)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(34)
    X = T.tensor(r.normal(size=(200, 1, 8, 8)), dtype=T.float32)
    y = (X[:, 0, :4].mean((1, 2)) > X[:, 0, 4:].mean((1, 2))).long() + 2 * (
        X[:, 0, :, :4].mean((-1, -2)) > 0
    ).long()
    train = T.utils.data.TensorDataset(X[:160], y[:160])
    test = T.utils.data.TensorDataset(X[160:], y[160:])
    train_loader = T.utils.data.DataLoader(train, batch_size=32)
    test_loader = T.utils.data.DataLoader(test, batch_size=20)
    device = T.device("cuda" if T.cuda.is_available() else "cpu")

    class NeuralNetwork(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1 = nn.Conv2d(1, 8, kernel_size=3, padding=1)
            self.conv2 = nn.Conv2d(8, 16, kernel_size=3)
            self.flatten = nn.Flatten()
            self.linear_relu_stack = nn.Sequential(
                nn.Linear(16 * 2 * 2 + 0, 32), nn.ReLU(), nn.Linear(32, 4)
            )

        def forward(self, x):
            x = F.relu(F.max_pool2d(self.conv1(x), 2))
            x = F.relu(self.conv2(x))
            return self.linear_relu_stack(self.flatten(x))

    model = NeuralNetwork().to(device)
    with T.no_grad():
        for p in model.parameters():
            p.copy_(T.tensor(r.normal(size=tuple(p.shape)) * (0.2 if p.dim() > 1 else 0.01)))
    loss_fn = nn.CrossEntropyLoss()
    optimizer = optim.SGD(model.parameters(), lr=1e-1)
    log = []

    def train_epoch():
        model.train()
        for batch, (xb, yb) in enumerate(train_loader):
            xb, yb = xb.to(device), yb.to(device)
            pred = model(xb)
            loss = loss_fn(pred, yb)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            if batch % 2 == 0:
                log.append(
                    f"loss: {loss.item():>5f}  [{(batch + 1) * len(xb):>5d}/{len(train_loader.dataset):>5d}]"
                )

    def evaluate():
        model.eval()
        test_loss, correct = 0, 0
        with T.no_grad():
            for xb, yb in test_loader:
                pred = model(xb.to(device))
                test_loss += loss_fn(pred, yb.to(device)).item()
                correct += (pred.argmax(1) == yb).type(T.float).sum().item()
        return test_loss / len(test_loader), correct / len(test)

    results = []
    for t in range(3):
        train_epoch()
        results.append(evaluate())
    buffer = io.BytesIO()
    T.save({"epoch": 3, "model": model.state_dict(), "opt": optimizer.state_dict()}, buffer)
    buffer.seek(0)
    other = NeuralNetwork()
    ck = T.load(buffer)
    other.load_state_dict(ck["model"])
    other.eval()
    with T.inference_mode():
        probs = nn.Softmax(dim=1)(other(X[:4]))
    return {"results": results, "log": log[0][:9], "probs": probs.numpy(), "n": len(log)}
