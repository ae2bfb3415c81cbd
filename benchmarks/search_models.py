"""Models for `python -m benchmarks graphs`: written once, in the layers that PyTorch has too.

Each is `make(nn)`, with `ogive.nn` or `torch.nn`, and gives a module and the shape of its input.
Attention and its projections are spelled by hand, as models in the wild have them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Made = tuple[Any, tuple[int, ...]]


def _attention(nn: Any, width: int, heads: int, is_causal: bool) -> Any:
    class Attention(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.query, self.key = nn.Linear(width, width), nn.Linear(width, width)
            self.value, self.out = nn.Linear(width, width), nn.Linear(width, width)

        def forward(self, x: Any) -> Any:
            count = x.shape[0]
            parts = [
                layer(x).reshape(count, heads, width // heads).permute(1, 0, 2)
                for layer in (self.query, self.key, self.value)
            ]
            scores = parts[0] @ parts[1].transpose(-1, -2) / (width // heads) ** 0.5
            if is_causal:
                later = x.new_ones((count, count)).triu(1) > 0
                scores = scores.masked_fill(later, float("-inf"))
            mixed = scores.softmax(-1) @ parts[2]
            return self.out(mixed.permute(1, 0, 2).reshape(count, width))

    return Attention()


def _block(nn: Any, width: int, heads: int, is_causal: bool, is_pre_norm: bool) -> Any:
    class Block(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.attention = _attention(nn, width, heads, is_causal)
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.mlp = nn.Sequential(
                nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
            )

        def forward(self, x: Any) -> Any:
            if is_pre_norm:
                x = x + self.attention(self.norm1(x))
                return x + self.mlp(self.norm2(x))
            x = self.norm1(x + self.attention(x))
            return self.norm2(x + self.mlp(x))

    return Block()


def transformer_block(nn: Any) -> Made:
    return _block(nn, 512, 8, False, True), (128, 512)


def gpt2(nn: Any) -> Made:
    """The size of GPT-2 124M, behind its embedding: twelve blocks, and the logits of the last
    token."""
    width = 768

    class Model(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.blocks = nn.Sequential(*[_block(nn, width, 12, True, True) for _ in range(12)])
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 50257, bias=False)

        def forward(self, x: Any) -> Any:
            return self.head(self.norm(self.blocks(x))[-1:])

    return Model(), (64, width)


def bert(nn: Any) -> Made:
    """The size of BERT-base, behind its embedding."""
    return nn.Sequential(*[_block(nn, 768, 12, False, False) for _ in range(12)]), (64, 768)


def lstm(nn: Any) -> Made:
    width = 512

    class Step(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            names = ("taken", "forgotten", "new", "given")
            self.inputs = nn.ModuleList([nn.Linear(width, width) for _ in names])
            self.states = nn.ModuleList([nn.Linear(width, width) for _ in names])

        def forward(self, x: Any) -> Any:
            hidden, cell = x[1], x[2]
            gates = [
                one(x[0]) + two(hidden)
                for one, two in zip(self.inputs, self.states, strict=True)
            ]
            taken, forgotten, given = [gates[n].sigmoid() for n in (0, 1, 3)]
            cell = forgotten * cell + taken * gates[2].tanh()
            return given * cell.tanh()

    return Step(), (3, 64, width)


def _convolution(
    nn: Any, before: int, after: int, window: int, stride: int = 1, groups: int = 1,
    activation: str = "ReLU",
) -> Any:  # fmt: skip
    layers = [
        nn.Conv2d(before, after, window, stride, window // 2, groups=groups, bias=False),
        nn.BatchNorm2d(after),
    ]
    return nn.Sequential(*layers, *([getattr(nn, activation)()] if activation else []))


class _Shapes:
    RESNET18 = ((64, 2, 1), (128, 2, 2), (256, 2, 2), (512, 2, 2))
    RESNET50 = ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2))
    MOBILE = (
        (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
        (6, 160, 3, 2), (6, 320, 1, 1),
    )  # fmt: skip


def _residual(nn: Any, inside: Any, shortcut: Any, is_relu: bool = True) -> Any:
    class Residual(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.inside, self.shortcut = inside, shortcut

        def forward(self, x: Any) -> Any:
            total = self.inside(x) + (x if self.shortcut is None else self.shortcut(x))
            return total.relu() if is_relu else total

    return Residual()


def _resnet(nn: Any, stages: Any, is_deep: bool) -> Made:
    layers = [_convolution(nn, 3, 64, 7, 2), nn.MaxPool2d(3, 2, 1)]
    before = 64
    for width, count, first in stages:
        for block in range(count):
            stride = first if block == 0 else 1
            after = 4 * width if is_deep else width
            if is_deep:
                inside = nn.Sequential(
                    _convolution(nn, before, width, 1), _convolution(nn, width, width, 3, stride),
                    _convolution(nn, width, after, 1, activation=""),
                )  # fmt: skip
            else:
                inside = nn.Sequential(
                    _convolution(nn, before, width, 3, stride),
                    _convolution(nn, width, after, 3, activation=""),
                )
            is_other = before != after or stride != 1
            shortcut = _convolution(nn, before, after, 1, stride, activation="")
            layers.append(_residual(nn, inside, shortcut if is_other else None))
            before = after
    head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, 1000)]
    return nn.Sequential(*layers, *head), (1, 3, 224, 224)


def resnet18(nn: Any) -> Made:
    return _resnet(nn, _Shapes.RESNET18, is_deep=False)


def resnet50(nn: Any) -> Made:
    return _resnet(nn, _Shapes.RESNET50, is_deep=True)


def mobilenet(nn: Any) -> Made:
    """MobileNet-V2."""
    layers = [_convolution(nn, 3, 32, 3, 2, activation="ReLU6")]
    before = 32
    for factor, width, count, first in _Shapes.MOBILE:
        for block in range(count):
            stride, hidden = (first if block == 0 else 1), before * factor
            inside = [_convolution(nn, before, hidden, 1, activation="ReLU6")] if factor > 1 else []
            inside += [
                _convolution(nn, hidden, hidden, 3, stride, hidden, "ReLU6"),
                _convolution(nn, hidden, width, 1, activation=""),
            ]
            whole = nn.Sequential(*inside)
            is_same = stride == 1 and before == width
            layers.append(_residual(nn, whole, None, is_relu=False) if is_same else whole)
            before = width
    layers.append(_convolution(nn, before, 1280, 1, activation="ReLU6"))
    head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1280, 1000)]
    return nn.Sequential(*layers, *head), (1, 3, 224, 224)


def unet(nn: Any) -> Made:
    """Two levels down and up again, joined by sums."""

    def twice(before: int, after: int) -> Any:
        return nn.Sequential(_convolution(nn, before, after, 3), _convolution(nn, after, after, 3))

    class Model(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.down = nn.ModuleList([twice(3, 32), twice(32, 64), twice(64, 128)])
            self.up = nn.ModuleList([twice(64, 64), twice(32, 32)])
            self.widen = nn.ModuleList(
                [nn.ConvTranspose2d(128, 64, 2, 2), nn.ConvTranspose2d(64, 32, 2, 2)]
            )
            self.pool, self.out = nn.MaxPool2d(2), nn.Conv2d(32, 2, 1)

        def forward(self, x: Any) -> Any:
            first = self.down[0](x)
            second = self.down[1](self.pool(first))
            x = self.down[2](self.pool(second))
            x = self.up[0](self.widen[0](x) + second)
            x = self.up[1](self.widen[1](x) + first)
            return self.out(x)

    return Model(), (1, 3, 128, 128)


MODELS: dict[str, Callable[[Any], Made]] = {
    "transformer block": transformer_block,
    "GPT-2 124M": gpt2,
    "BERT-base": bert,
    "LSTM step": lstm,
    "ResNet-18": resnet18,
    "ResNet-50": resnet50,
    "MobileNet-V2": mobilenet,
    "U-Net": unet,
}
