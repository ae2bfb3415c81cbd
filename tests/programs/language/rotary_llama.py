"""A decoder in the manner of Llama: RMS norms, complex rotary embeddings, grouped heads."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        out = x.float() * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + self.eps)
        return out.type_as(x) * self.weight


def precompute_freqs_cis(dim, end, theta=10000.0):
    freqs = 1.0 / (theta ** (torch.arange(0, dim, 2)[: (dim // 2)].float() / dim))
    freqs = torch.outer(torch.arange(end), freqs).float()
    return torch.polar(torch.ones_like(freqs), freqs)


def apply_rotary(x, freqs_cis):
    turned = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    freqs_cis = freqs_cis.view(1, x.shape[1], 1, x.shape[-1] // 2)
    return torch.view_as_real(turned * freqs_cis).flatten(3).type_as(x)


def repeat_kv(x, n_rep):
    bs, slen, heads, dim = x.shape
    return x[:, :, :, None, :].expand(bs, slen, heads, n_rep, dim).reshape(bs, slen, -1, dim)


class Block(nn.Module):
    def __init__(self, dim=8, heads=4, kv_heads=2):
        super().__init__()
        self.heads, self.kv_heads, self.head_dim = heads, kv_heads, dim // heads
        self.wq = nn.Linear(dim, dim, bias=False)
        self.wk = nn.Linear(dim, kv_heads * self.head_dim, bias=False)
        self.wv = nn.Linear(dim, kv_heads * self.head_dim, bias=False)
        self.wo = nn.Linear(dim, dim, bias=False)
        self.w1, self.w3 = nn.Linear(dim, 12, bias=False), nn.Linear(dim, 12, bias=False)
        self.w2 = nn.Linear(12, dim, bias=False)
        self.attention_norm, self.ffn_norm = RMSNorm(dim), RMSNorm(dim)

    def forward(self, x, freqs_cis):
        bsz, seqlen, _ = x.shape
        h = self.attention_norm(x)
        q = apply_rotary(self.wq(h).view(bsz, seqlen, self.heads, self.head_dim), freqs_cis)
        k = apply_rotary(self.wk(h).view(bsz, seqlen, self.kv_heads, self.head_dim), freqs_cis)
        v = self.wv(h).view(bsz, seqlen, self.kv_heads, self.head_dim)
        k, v = repeat_kv(k, 2), repeat_kv(v, 2)
        out = F.scaled_dot_product_attention(
            q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), is_causal=True
        )
        x = x + self.wo(out.transpose(1, 2).contiguous().view(bsz, seqlen, -1))
        h = self.ffn_norm(x)
        return x + self.w2(F.silu(self.w1(h)) * self.w3(h))


def main(capture=lambda step: step):
    draws = Draws()
    model = draws.fill(Block())
    x, wanted = draws.normal(2, 5, 8), draws.normal(2, 5, 8)
    freqs_cis = precompute_freqs_cis(2, 5)
    decay = [p for p in model.parameters() if p.dim() >= 2]
    rest = [p for p in model.parameters() if p.dim() < 2]
    groups = [{"params": decay, "weight_decay": 0.1}, {"params": rest, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=1e-2, betas=(0.9, 0.95))

    @capture
    def step(x):
        optimizer.zero_grad(set_to_none=True)
        loss = F.mse_loss(model(x, freqs_cis), wanted)
        loss.backward()
        optimizer.step()
        return loss.detach()

    losses = [step(x).item() for _ in range(3)]
    return {"losses": losses, "out": model(x, freqs_cis)}


if __name__ == "__main__":
    show(main())
