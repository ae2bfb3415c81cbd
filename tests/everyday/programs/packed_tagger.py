"""An LSTM tagger over packed sequences of different lengths, padded again for the loss."""

TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(101)
    lengths = [9, 7, 4, 2]
    words = [T.tensor(r.integers(1, 12, n)) for n in lengths]
    tags = nn.utils.rnn.pad_sequence([w % 3 for w in words], batch_first=True, padding_value=-100)

    class Tagger(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(12, 6)
            self.lstm = nn.LSTM(6, 8, batch_first=True)
            self.out = nn.Linear(8, 3)

        def forward(self, x, lengths):
            packed = nn.utils.rnn.pack_padded_sequence(self.embed(x), lengths, batch_first=True)
            out, (h, c) = self.lstm(packed)
            out, _ = nn.utils.rnn.pad_packed_sequence(out, batch_first=True)
            return self.out(out), h

    net = Tagger()
    with T.no_grad():
        for p in net.parameters():
            p.copy_(T.tensor((r.normal(size=tuple(p.shape)) * 0.3).astype("float32")))
    x = nn.utils.rnn.pad_sequence(words, batch_first=True)
    opt = optim.Adam(net.parameters(), lr=0.05)
    losses = []
    for _ in range(6):
        scores, h = net(x, lengths)
        loss = F.cross_entropy(scores.reshape(-1, 3), tags.reshape(-1), ignore_index=-100)
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    with T.no_grad():
        scores, h = net(x, lengths)
    mask = tags != -100
    right = (scores.argmax(-1)[mask] == tags[mask]).float().mean().item()
    return {"losses": losses, "right": right, "h": h.numpy()}
