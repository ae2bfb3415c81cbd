"""One function of two matrices, called in a loop with changing sizes, slices and numbers.

Sizes coincide by accident with each other and with constants; both axes may change at once.
"""

from __future__ import annotations

import random
from typing import Any

import torch as pytorch

from tests.line_programs.running import Lines, names_for
from tests.line_programs.templates import templates

STEPS = templates("""
x * c; x + c; x - c * y; x + y; x.tanh(); x[k:]; x[:n - k]; x[:, k:]; x[::k + 1]; x[n // 2:]
x[-k - 1:]; x[0] + x; x.roll(k, 0); x.flip(1); x.T; x.T @ y; x @ y.T; x @ x.T; torch.cat((x, y))
x.softmax(0)
torch.cat((x, y), 1); torch.stack((x, y), 1).flatten(0, 1); x.reshape(-1, 1) * c; x.reshape(1, -1)
x.unfold(0, k + 1, 1).amax(-1); x.log_softmax(-1); x - x.mean(0); x / (x.var(0, correction=0) + 1)
x.cumsum(0); x.sort(0)[0]; x.topk(1, 1)[0] + x; x.argmax(1)[:, None] * 0.5 + x; x.cummax(0)[0]
x.sum(0, keepdim=True); x.sum(1, keepdim=True).expand(-1, m); torch.where(x > y, x, y * c)
x.masked_fill(x > c, 0.0); x.repeat(2, 1); x.repeat_interleave(k + 1, 1); F.pad(x, (k, 0, 0, 1))
x.tril(); x.diagonal().sum() + x; x[places(k, (3,), x.shape[0])]; x[:, places(k, (n,), x.shape[1])]
x.index_add(0, places(k, (y.shape[0],), x.shape[0]), y); x + torch.arange(x.shape[1])
x * torch.arange(x.shape[0])[:, None] * 0.1; x + torch.linspace(0, c, x.shape[1]); x / x.shape[1]
x * (n - m); F.layer_norm(x, x.shape[-1:]); F.max_pool1d(x[None], 2)[0]
F.conv1d(x[:, None], torch.ones(2, 1, 2), padding=k).flatten(1)
F.conv2d(x[None, None], torch.ones(1, 1, 2, 3), padding=1, stride=2)[0, 0]
F.interpolate(x[None], size=m, mode='linear')[0]; F.adaptive_avg_pool1d(x[None], k + 1)[0]
F.scaled_dot_product_attention(x[None], y[None], y[None])[0]; torch.einsum('ij,ik->jk', x, y)
x.T.reshape(-1, x.shape[1]); x[None].expand(2, *x.shape).reshape(-1, x.shape[1])
x @ weights[:x.shape[1]]; torch.stack(x.unbind(1)); x.chunk(2, 0)[0]; x.norm() + x
(x > c).float().cumsum(0) + x
write(x, k, c); F.embedding(torch.arange(x.shape[0]) % 4, weights)[:, :x.shape[1]]; slope(x, c)
""")

HEAD = """
weights = floats(1, 40, 40) * 0.3
def write(x, k, c):
    z = x.clone(); v = z.T; z[k:] += c; v[0] = c; z[0].add_(1); return z
def slope(x, c):
    leaf = x.detach().clone().requires_grad_()
    (leaf.tanh() * c).softmax(0).square().sum().backward()
    return leaf.grad + x
""".strip().splitlines()

SIZES = (0, 1, 1, 2, 3, 4, 5, 7, 8, 11, 13, 16, 17, 33)
Sizes = tuple[int, int, int, float]


def draw_loop(seed: int, is_captured: bool = False) -> Lines:
    """A function and a loop that calls it."""
    draw = random.Random(seed)
    changing = draw.choice(("n", "m", "nm", "c", "k", "nmkc"))
    calls: list[Sizes] = []
    n, m, k, c = draw.choice(SIZES[1:]), draw.choice(SIZES[1:]), draw.randint(0, 2), 0.5
    for _ in range(draw.randint(4, 8)):
        n = draw.choice(SIZES) if "n" in changing else n
        m = draw.choice(SIZES[1:]) if "m" in changing else m
        k = draw.randint(0, 3) if "k" in changing else k
        c = draw.choice((0.0, 1.0, 2.0, -1.5, 0.1)) if "c" in changing else c
        calls.append((n, m, k, c))
    return [
        *HEAD,
        *(["@captured"] if is_captured else []),
        "def function(x, y, n, m, k, c):",
        *_draw_body(draw, calls, is_captured),
        "    return x, y",
        "kept = []",
        f"for n, m, k, c in {calls + calls[:2]}:",
        "    kept += function(floats(n, n, m), floats(m, n, m), n, m, k, c)",
        *draw.choice((["    check(*kept[-2:])"], [])),
        "check(*kept)",
    ]


def draw_captured_loop(seed: int) -> Lines:
    """The same with the function captured."""
    return draw_loop(seed, is_captured=True)


def _is_odd(step: str, states: list[dict[str, Any]]) -> bool:
    """Whether PyTorch does nothing there, without a look at the shapes, for lack of rows."""
    looks = "index_add" in step or "attention" in step
    return looks and any(0 in (*each["x"].shape, *each["y"].shape) for each in states)


def _draw_body(draw: random.Random, calls: list[Sizes], is_captured: bool) -> Lines:
    """Steps that PyTorch accepts for all sizes."""
    names = names_for(pytorch, [])
    exec("\n".join(HEAD), names)
    states = []
    for n, m, k, c in calls:
        x, y = names["floats"](n, n, m), names["floats"](m, n, m)
        states.append(names | {"x": x, "y": y, "n": n, "m": m, "k": k, "c": c})
    lines: Lines = []
    for _ in range(40):
        step = draw.choice(STEPS)
        line = f"{draw.choice('xxxy')} = ({step}).float()"
        if is_captured and "slope" in step:
            continue
        if _is_odd(step, states):
            continue
        after = [dict(state) for state in states]
        try:
            for state in after:
                exec(line, state)
        except Exception:
            continue
        values = [state[line[0]] for state in after]
        if all(v.dim() == 2 and v.numel() < 3000 and bool((v.abs() < 1e3).all()) for v in values):
            states = after
            lines.append(f"    {line}")
        if len(lines) == 6:
            break
    return lines
