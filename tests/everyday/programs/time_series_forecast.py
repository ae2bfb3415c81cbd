"""A forecast of a sine by windows: a Dataset of one's own, DataLoader, an LSTM with two layers, a TCN, Huber loss, plateau schedule."""

TOL = (2e-3, 1e-3)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(21)
    series = T.sin(T.arange(0, 30, 0.1)) + 0.05 * T.tensor(r.normal(size=300)).float()

    class Windows(T.utils.data.Dataset):
        def __init__(self, s, n):
            self.s, self.n = s, n

        def __len__(self):
            return len(self.s) - self.n

        def __getitem__(self, i):
            return self.s[i : i + self.n].unsqueeze(-1), self.s[i + self.n]

    train = T.utils.data.DataLoader(
        Windows(series[:200], 20), batch_size=36, shuffle=False, drop_last=True
    )

    class Forecast(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm = nn.LSTM(1, 16, num_layers=2, batch_first=True)
            self.fc = nn.Linear(16, 1)

        def forward(self, x):
            h0, c0 = T.zeros(2, x.size(0), 16), T.zeros(2, x.size(0), 16)
            out, _ = self.lstm(x, (h0, c0))
            return self.fc(out[:, -1, :]).squeeze(-1)

    class Causal(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList(
                nn.Conv1d(1 if d == 1 else 8, 8, 3, dilation=d) for d in (1, 2, 4)
            )
            self.out = nn.Conv1d(8, 1, 1)

        def forward(self, x):
            x = x.permute(0, 2, 1)
            for layer in self.layers:
                x = F.leaky_relu(layer(F.pad(x, (2 * layer.dilation[0], 0))))
            return self.out(x)[:, 0, -1]

    out = {}
    for kind in (Forecast, Causal):
        model = kind()
        for p in model.parameters():
            p.data.copy_(T.from_numpy(r.normal(size=tuple(p.shape)).astype("f4") * 0.2))
        opt = optim.Adam(model.parameters(), lr=0.01)
        plateau = optim.lr_scheduler.ReduceLROnPlateau(opt, factor=0.5, patience=0)
        crit = nn.SmoothL1Loss()
        curve = []
        for epoch in range(2):
            running = 0.0
            for xb, yb in train:
                opt.zero_grad()
                loss = crit(model(xb), yb)
                loss.backward()
                opt.step()
                running += loss.item() * xb.size(0)
            plateau.step(running)
            curve.append(running / len(train.dataset))
        model.eval()
        window = series[200:220].tolist()
        with T.no_grad():
            for _ in range(10):
                inp = T.FloatTensor(window[-20:]).view(1, 20, 1)
                window.append(model(inp).item())
        out[kind.__name__] = curve
        out[kind.__name__ + "_next"] = window[-10:]
        out[kind.__name__ + "_lr"] = opt.param_groups[0]["lr"]
    return out
