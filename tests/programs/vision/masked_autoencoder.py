"""A masked autoencoder: patches are shuffled, few are encoded, and all are drawn again."""

import torch
import torch.nn as nn

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4
PATCH, KEPT = 4, 4


class MaskedAutoencoder(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.embed = nn.Conv2d(3, width, PATCH, PATCH)
        self.positions = nn.Parameter(torch.zeros(1, 16, width))
        layer = {"dim_feedforward": 32, "dropout": 0.0, "batch_first": True, "norm_first": True}
        self.encoder = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(width, 2, activation="gelu", **layer), 1,
            enable_nested_tensor=False,
        )
        self.hidden = nn.Parameter(torch.zeros(1, 1, width))
        self.decoder = nn.TransformerEncoderLayer(width, 4, **layer)
        self.head = nn.Linear(width, PATCH * PATCH * 3)

    def forward(self, images, noise):
        x = self.embed(images).flatten(2).transpose(1, 2) + self.positions
        order = torch.argsort(noise, dim=1)
        back = torch.argsort(order, dim=1)
        kept = order[:, :KEPT].unsqueeze(-1).expand(-1, -1, x.shape[2])
        seen = self.encoder(torch.gather(x, 1, kept))
        rest = self.hidden.repeat(len(x), x.shape[1] - KEPT, 1)
        whole = torch.cat([seen, rest], dim=1)
        whole = torch.gather(whole, 1, back.unsqueeze(-1).repeat(1, 1, x.shape[2]))
        mask = torch.ones_like(noise)
        mask[:, :KEPT] = 0
        return self.head(self.decoder(whole + self.positions)), mask.gather(1, back)


def patches_of(images):
    n, c, h, w = images.shape
    x = images.reshape(n, c, h // PATCH, PATCH, w // PATCH, PATCH)
    return torch.einsum("nchpwq->nhwpqc", x).reshape(n, -1, PATCH**2 * c)


def main(capture=lambda step: step):
    draws = Draws()
    model = draws.fill(MaskedAutoencoder(), 0.2)
    images, noise = draws.normal(3, 3, 16, 16), draws.uniform(3, 16)
    groups = [
        {"params": [p for p in model.parameters() if p.ndim > 1], "weight_decay": 0.05},
        {"params": [p for p in model.parameters() if p.ndim <= 1], "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups, lr=1e-3, betas=(0.9, 0.95))
    target = patches_of(images)
    target = (target - target.mean(-1, keepdim=True)) / (target.var(-1, keepdim=True) + 1e-6) ** 0.5
    losses = []
    for _ in range(3):
        drawn, mask = model(images, noise)
        loss = (((drawn - target) ** 2).mean(-1) * mask).sum() / mask.sum()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return {"losses": losses, "drawn": drawn, "mask": mask}


if __name__ == "__main__":
    show(main())
