"""A tiny U-Net: pooling down, upsampling, concatenated skips, Dice loss."""

TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(113)

    # No bias before a batch norm: its gradient is a rounding error, of which Adam makes whole steps.
    def block(a, b):
        conv = nn.Conv2d(a, b, 3, padding=1, bias=False)
        return nn.Sequential(conv, nn.BatchNorm2d(b), nn.ReLU(inplace=True))

    class UNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.one, self.two = block(1, 4), block(4, 8)
            self.up = nn.ConvTranspose2d(8, 4, 2, stride=2)
            self.three = block(8, 4)
            self.out = nn.Conv2d(4, 1, 1)
            self.pool = nn.MaxPool2d(2)

        def forward(self, x):
            a = self.one(x)
            b = self.two(self.pool(a))
            return self.out(self.three(T.cat([self.up(b), a], dim=1)))

    net = UNet()
    with T.no_grad():
        for name, p in net.named_parameters():
            if p.dim() > 1:
                p.copy_(T.tensor((r.normal(size=tuple(p.shape)) * 0.3).astype("float32")))
            elif name.endswith("bias"):
                p.zero_()
    images = T.tensor(r.random((2, 1, 16, 16)).astype("float32"))
    masks = (images > 0.5).float()
    opt = optim.Adam(net.parameters(), lr=0.02)
    losses = []
    for _ in range(5):
        p = T.sigmoid(net(images))
        dice = 1 - (2 * (p * masks).sum((1, 2, 3)) + 1) / (p.sum((1, 2, 3)) + masks.sum((1, 2, 3)) + 1)
        loss = dice.mean() + F.binary_cross_entropy(p, masks)
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    net.eval()
    with T.no_grad():
        logits = net(images)
    guess = logits > 0
    union = (guess | masks.bool()).sum().item()
    iou = (guess & masks.bool()).sum().item() / union
    return {"losses": losses, "iou": iou, "logits": logits.numpy()}
