"""A language model of one block in the manner of nanoGPT: training, then greedy sampling."""

import torch

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


def main(capture=lambda step: step):
    draws = Draws()
    nn, F = torch.nn, torch.nn.functional
    block, width, words = 6, 8, 11

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.c_attn, self.c_proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
            mask = torch.tril(torch.ones(block, block)).view(1, 1, block, block)
            self.register_buffer("bias", mask)

        def forward(self, x):
            B, T, C = x.size()
            q, k, v = self.c_attn(x).split(width, dim=2)
            q, k, v = (t.view(B, T, 2, C // 2).transpose(1, 2) for t in (q, k, v))
            att = (q @ k.transpose(-2, -1)) * (1.0 / k.size(-1) ** 0.5)
            att = att.masked_fill(self.bias[:, :, :T, :T] == 0, float("-inf"))
            y = (F.softmax(att, dim=-1) @ v).transpose(1, 2).contiguous().view(B, T, C)
            return self.c_proj(y)

    class GPT(nn.Module):
        def __init__(self):
            super().__init__()
            self.transformer = nn.ModuleDict(
                {"wte": nn.Embedding(words, width), "wpe": nn.Embedding(block, width),
                 "ln": nn.LayerNorm(width), "attn": Attention()}
            )  # fmt: skip
            self.lm_head = nn.Linear(width, words, bias=False)
            self.transformer.wte.weight = self.lm_head.weight

        def forward(self, idx, targets = None):
            pos = torch.arange(0, idx.size(1), dtype=torch.long, device=idx.device)
            x = self.transformer.wte(idx) + self.transformer.wpe(pos)
            logits = self.lm_head(x + self.transformer.attn(self.transformer.ln(x)))
            if targets is None:
                return logits[:, [-1], :], None
            return logits, F.cross_entropy(
                logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=-1
            )

    model = draws.fill(GPT())
    data = draws.integers(words, 40)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, betas=(0.9, 0.95))
    losses = []
    for step in range(2):
        ix = torch.tensor([step, step + 9, step + 20])
        x = torch.stack([data[i : i + block] for i in ix])
        y = torch.stack([data[i + 1 : i + 1 + block] for i in ix])
        _, loss = model(x, y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    idx = data[:2].unsqueeze(0)
    with torch.no_grad():
        for _ in range(2):
            logits, _ = model(idx)
            v, _ = torch.topk(logits[:, -1, :], 3)
            logits = logits[:, -1, :].masked_fill(logits[:, -1, :] < v[:, [-1]], -float("inf"))
            idx = torch.cat((idx, torch.max(F.softmax(logits, -1), 1, keepdim=True)[1]), dim=1)
    return {"losses": losses, "sampled": idx}

if __name__ == "__main__":
    show(main())
