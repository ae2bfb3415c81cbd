"""Training programs: a model, an optimizer, a schedule, and what people write between steps.

Most are in float64, so that what differs is no rounding. What rounding decides is left out: steps
that divide gradients by their own size only follow losses without parts whose gradient is zero but
for rounding (a bias before a normalization, keys of attention).
"""

from __future__ import annotations

import random

import numpy as np
import torch as pytorch

from tests.line_programs.running import Lines, run

BLOCKS = (
    "nn.Linear(8, 8)", "nn.Linear(8, 8), nn.Tanh()", "nn.Linear(8, 8), nn.ReLU(inplace=True)",
    "nn.Linear(8, 8), nn.GELU()", "nn.Linear(8, 8), nn.SiLU(inplace=True)",
    "nn.Linear(8, 8), nn.ELU()", "nn.Linear(8, 8), nn.Softplus()", "nn.Linear(8, 8), nn.Mish()",
    "nn.LayerNorm(8)", "nn.RMSNorm(8)", "nn.Linear(8, 8, bias=False), nn.BatchNorm1d(8)",
    "nn.Unflatten(1, (4, 2)), nn.GroupNorm(2, 4), nn.Flatten()", "nn.Dropout(0.0)",
    "nn.Unflatten(1, (2, 4)), nn.Conv1d(2, 4, 3, padding=1), nn.MaxPool1d(2), nn.Flatten()",
    "nn.Unflatten(1, (2, 2, 2)), nn.Conv2d(2, 2, 2, padding='same'), nn.Flatten()",
    "nn.Unflatten(1, (2, 4)), nn.ConvTranspose1d(2, 1, 5), nn.Flatten()",
    "nn.Linear(8, 16), nn.GLU(-1)", "nn.PReLU()", "nn.Hardswish()", "nn.Softmax(-1)",
)  # fmt: skip
"""Layers from 8 numbers a row to 8."""

BODIES = (
    "m(x)", "m(x) + x", "m(m(x))", "m(x) * x.sigmoid()", "m(x.flip(1)).flip(1)",
    "m(x[:, torch.tensor([3, 1, 0, 2, 7, 5, 6, 4])])", "torch.cat((m(x[:2]), m(x[2:])))",
    "m(x).cumsum(1) * 0.3", "m(x).sort(1)[0]", "m(x).softmax(1) @ x.T @ x", "m(x).clamp(-1, 1)",
    "checkpoint(m, x, use_reentrant=False)", "m(x).t().contiguous().view(8, 6).t()",
    "torch.where(m(x) > 0, m(x), 0.1 * x)", "m(x).norm(dim=1, keepdim=True) * x",
    "m(x) - m(x).mean(0)", "m(x).unfold(1, 4, 2).flatten(1)[:, :8]",
)  # fmt: skip

LOSSES = (
    "F.mse_loss(h, y)", "F.smooth_l1_loss(h, y)", "F.huber_loss(h, y, delta=0.5)",
    "F.cross_entropy(h, c)", "F.cross_entropy(h, c, label_smoothing=0.1)",
    "F.cross_entropy(h, y.softmax(1))", "F.nll_loss(h.log_softmax(1), c)",
    "F.binary_cross_entropy_with_logits(h, (y > 0).to(h.dtype))",
    "F.kl_div(h.log_softmax(1), y.softmax(1), reduction='batchmean')",
    "F.multi_margin_loss(h, c)", "F.cosine_embedding_loss(h, y, c.sign() * 2 - 1)",
    "(h * y).sum(1).exp().mean().log()", "h.logsumexp(1).mean() - (h * y).mean()",
    "h.square().mean() + h.std(0).sum() * 0.1", "F.triplet_margin_loss(h, y, y.flip(0))",
)  # fmt: skip

STEADY = (
    "SGD({}, lr=0.05)", "SGD({}, lr=0.05, momentum=0.9)", "SGD({}, lr=0.05, weight_decay=0.1)",
    "SGD({}, lr=0.02, momentum=0.5, nesterov=True, weight_decay=0.01)",
    "SGD({}, lr=0.02, momentum=0.5, dampening=0.2, maximize=True)",
)  # fmt: skip
SCALED = (
    "Adam({}, lr=0.01)", "Adam({}, lr=0.01, amsgrad=True, weight_decay=0.1)",
    "AdamW({}, lr=0.01, betas=(0.8, 0.9))", "RMSprop({}, lr=0.01, centered=True, momentum=0.3)",
    "Adagrad({}, lr=0.05, lr_decay=0.1)", "Adadelta({}, lr=0.5)", "NAdam({}, lr=0.01)",
    "RAdam({}, lr=0.01)", "Adamax({}, lr=0.01, weight_decay=0.1)", "ASGD({}, lr=0.02)",
)  # fmt: skip
"""Optimizers whose steps divide gradients by their own size."""

SCHEDULES = (
    "StepLR(o, 2, 0.5)", "ExponentialLR(o, 0.8)", "CosineAnnealingLR(o, 3)",
    "LambdaLR(o, lambda k: 1 / (k + 1))", "LinearLR(o, 0.5, total_iters=3)",
    "MultiStepLR(o, [1, 3], 0.3)", "PolynomialLR(o, 4)", "ConstantLR(o, 0.5, 2)",
    "CosineAnnealingWarmRestarts(o, 2)", "OneCycleLR(o, 0.1, total_steps=20)",
)  # fmt: skip

AFTER_BACKWARD = (
    "nn.utils.clip_grad_norm_(m.parameters(), 0.2)",
    "nn.utils.clip_grad_value_(m.parameters(), 0.01)",
    "for p in wanted(m): p.grad.mul_(0.5)",
    "for p in wanted(m): p.grad.data.add_(p.data, alpha=0.01)",
    "for p in wanted(m): p.grad = p.grad.clamp(-0.01, 0.01)",
    "for p in wanted(m): p.grad.sub_(p.grad.mean())",
)  # fmt: skip

BETWEEN = (
    "kept = {k: v.clone() for k, v in m.state_dict().items()}", "m.load_state_dict(kept)",
    "state = copy.deepcopy(o.state_dict())", "o.load_state_dict(state)", "m.eval()", "m.train()",
    "with torch.no_grad(): check(m(x))", "next(m.parameters()).requires_grad_(False)",
    "next(m.parameters()).requires_grad_(True)", "o.param_groups[0]['lr'] *= 0.5",
    "with torch.no_grad():\n    for p in m.parameters(): p.mul_(0.9)",
    "for p in m.parameters(): p.data.clamp_(-0.5, 0.5)", "x = x.roll(1, 0)",
    "for a, b in zip(average.parameters(), m.parameters()): a.data.lerp_(b.data, 0.3)",
    "check(*average.parameters())", "list(m.parameters())[-1].data[0] = 0.1",
    "with torch.no_grad(): list(m.parameters())[0][..., 0].zero_()", "check(loss)",
    "values = nn.utils.parameters_to_vector(m.parameters()).detach() * 0.95\n"
    "nn.utils.vector_to_parameters(values, m.parameters())",
    "unused = m(x)", "handle = next(m.parameters()).register_hook(lambda g: g * 0.5)",
)  # fmt: skip

SECOND = (
    "g, = torch.autograd.grad(loss, x, create_graph=True)\n    loss = loss + g.square().sum()",
    "g = torch.autograd.grad(h.square().sum(), x, create_graph=True)[0]\n"
    "    loss = loss + (g.norm(dim=1) - 1).square().mean()",
    "g = torch.autograd.grad(loss, list(m.parameters()), create_graph=True, allow_unused=True)\n"
    "    loss = loss + 0.1 * sum([t.square().sum() for t in g if t is not None])",
    "g, = torch.autograd.grad(h.tanh().sum(), x, create_graph=True)\n"
    "    g, = torch.autograd.grad(g.square().sum(), x, create_graph=True)\n"
    "    loss = loss + 0.01 * g.square().sum()",
)  # fmt: skip
"""Losses that gradients are part of."""

def draw_training(seed: int) -> Lines:
    """A model trained for some steps, as PyTorch does without complaint or overflow."""
    draw = random.Random(seed)
    while True:
        lines = _draw_lines(draw)
        text = "\n".join(lines)
        if "BatchNorm" in text and "checkpoint(m" in text:
            continue  # PyTorch's checkpoint counts the batch twice
        if "Norm(" in text and text.count("create_graph") > 1:
            continue  # third derivatives of PyTorch's layer_norm are wrong
        try:
            shown = run(pytorch, lines)
        except (RuntimeError, ValueError, TypeError, AttributeError, KeyError):
            continue
        if all(np.isfinite(values).all() for _, values in shown):
            return lines


def _draw_lines(draw: random.Random) -> Lines:
    blocks = draw.choices(BLOCKS, k=draw.choice((1, 2, 2, 3)))
    body, loss = draw.choice(BODIES), draw.choice(LOSSES)
    is_plain = "mean(0)" not in body and "softmax" not in body + loss
    is_scaled = draw.random() < 0.5 and is_plain and "Norm" not in "".join(blocks)
    dtype = "float64" if is_scaled else draw.choice(("float64",) * 4 + ("float32", "bfloat16"))
    groups = draw.choice((
        "m.parameters()", "m.parameters()",
        "[dict(params=list(m.parameters())[:1]), dict(params=list(m.parameters())[1:], lr=0.001)]",
    ))  # fmt: skip
    optimizer = draw.choice(SCALED if is_scaled else STEADY).format(groups)
    lines = [
        "import copy", "nn = torch.nn", "checkpoint = torch.utils.checkpoint.checkpoint",
        "def wanted(m): return [p for p in m.parameters() if p.grad is not None]",
        f"m = nn.Sequential({', '.join(blocks)}, nn.Linear(8, 8)).to(torch.{dtype})",
        "for k, p in enumerate(m.parameters()):\n"
        f"    p.data.copy_(floats({draw.randrange(99)} + k, *p.shape).to(p.dtype) * 0.3)",
        "average, kept = copy.deepcopy(m), copy.deepcopy(m.state_dict())",
        f"x, y = floats(1, 6, 8).to(torch.{dtype}), floats(2, 6, 8).to(torch.{dtype})",
        "c = places(3, (6,), 2)",
        f"o = torch.optim.{optimizer}", "state = copy.deepcopy(o.state_dict())",
    ]  # fmt: skip
    schedule = draw.choice(SCHEDULES) if draw.random() < 0.5 else None
    if schedule is not None:
        lines.append(f"schedule = torch.optim.lr_scheduler.{schedule}")
    lines.append(_draw_step(draw, body, loss, dtype == "float64" and draw.random() < 0.3))
    if draw.random() < 0.4:
        lines.append("step = captured(step)")
    for _ in range(draw.choice((2, 3, 4, 5))):
        lines.append("loss = step(x, y)")
        lines += ["schedule.step()"] if schedule is not None else []
        lines.append("check(loss)")
        if draw.random() < 0.4:
            lines.append(draw.choice(BETWEEN))
    return [*lines, "check(*m.parameters())", "check(*m.buffers())"]


def _draw_step(draw: random.Random, body: str, loss: str, is_second: bool) -> str:
    """The function that is called for each step."""
    lines = ["x = given.detach().requires_grad_()" if is_second else "x = given"]
    lines += [f"h = {body}", f"loss = {loss}"]
    if is_second:
        lines.append(draw.choice(SECOND))
    lines.append(draw.choice(("o.zero_grad()", "m.zero_grad()", "o.zero_grad(set_to_none=False)")))
    lines.append("loss.backward()")
    if draw.random() < 0.5:
        lines.append(draw.choice(AFTER_BACKWARD))
    lines += ["o.step()", "return loss.detach()"]
    return "def step(given, y):\n" + "\n".join([f"    {each}" for each in lines])
