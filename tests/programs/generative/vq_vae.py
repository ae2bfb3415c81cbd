"""A codebook: nearest entries, straight-through gradients, averages that follow."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


class VectorQuantizer(nn.Module):
    def __init__(self, entries, dim, commitment=0.25):
        super().__init__()
        self.dim, self.commitment = dim, commitment
        self.embedding = nn.Embedding(entries, dim)
        self.register_buffer("ema_count", torch.zeros(entries))

    def forward(self, inputs):
        inputs = inputs.permute(0, 2, 3, 1).contiguous()
        flat = inputs.view(-1, self.dim)
        distances = (
            torch.sum(flat**2, dim=1, keepdim=True)
            + torch.sum(self.embedding.weight**2, dim=1)
            - 2 * torch.matmul(flat, self.embedding.weight.t())
        )
        indices = torch.argmin(distances, dim=1).unsqueeze(1)
        encodings = torch.zeros(indices.shape[0], self.embedding.num_embeddings)
        encodings.scatter_(1, indices, 1)
        quantized = torch.matmul(encodings, self.embedding.weight).view(inputs.shape)
        loss = F.mse_loss(quantized, inputs.detach()) + self.commitment * F.mse_loss(
            quantized.detach(), inputs
        )
        self.ema_count.mul_(0.9).add_(encodings.sum(0), alpha=0.1)
        quantized = inputs + (quantized - inputs).detach()
        probs = torch.mean(encodings, dim=0)
        perplexity = torch.exp(-torch.sum(probs * torch.log(probs + 1e-10)))
        return loss, quantized.permute(0, 3, 1, 2).contiguous(), perplexity


def main(capture=lambda step: step):
    draws = Draws()
    quantizer = draws.fill(VectorQuantizer(6, 3), scale=1.0)
    encoder, decoder = draws.fill(nn.Conv2d(1, 3, 2, 2)), draws.fill(nn.ConvTranspose2d(3, 1, 2, 2))
    x = draws.normal(2, 1, 6, 6)
    loss, quantized, perplexity = quantizer(encoder(x))
    total = F.mse_loss(decoder(quantized), x) + loss
    total.backward()
    return {"total": total, "perplexity": perplexity, "count": quantizer.ema_count,
            "encoder": encoder.weight.grad, "codes": quantizer.embedding.weight.grad}


if __name__ == "__main__":
    show(main())
