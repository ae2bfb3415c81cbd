"""What is called with changing sizes: three models, and the families of operations one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

Call = Callable[[Any], Any]


class Program(NamedTuple):
    """A function of one tensor.

    `make` builds it from a library that speaks as PyTorch; `shape` gives the tensor's shape for a
    size between `least` and `greatest`.
    """

    make: Callable[[Any], Call]
    shape: Callable[[int], tuple[int, ...]]
    least: int
    greatest: int


def _mlp(torch: Any) -> Call:
    nn = torch.nn
    model: Call = nn.Sequential(
        nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10)
    )
    return model


def _block(torch: Any) -> Call:
    model = torch.nn.TransformerEncoderLayer(
        256, 4, 1024, 0.0, "gelu", batch_first=True, norm_first=True
    )
    evaluated: Call = model.eval()
    return evaluated


def _convnet(torch: Any) -> Call:
    nn = torch.nn
    model: Call = nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10),
    )  # fmt: skip
    return model


def _images(size: int) -> tuple[int, ...]:
    return (2, 3, size, size + 7)


MODELS = {
    "MLP 256-1024-1024-10, rows": Program(_mlp, lambda size: (size, 256), 2, 512),
    "transformer block of 256, tokens": Program(_block, lambda size: (2, size, 256), 8, 512),
    "convnet, images": Program(_convnet, _images, 64, 160),
}


def _attention(torch: Any) -> Call:
    scores = torch.nn.functional.scaled_dot_product_attention
    return lambda x: scores(x, x * 0.5, x + 1.0)


def _layer_norm(torch: Any) -> Call:
    return lambda x: torch.nn.functional.layer_norm(x, (x.shape[-1],))


def _chain(torch: Any) -> Call:
    return lambda x: (x * 2.0 + 1.0).tanh() * x


def _with_weight(*shape: int) -> Callable[[Any], Call]:
    def make(torch: Any) -> Call:
        weight = torch.randn(*shape)
        return lambda x: x @ weight

    return make


def _layer(name: str, *arguments: Any, **options: Any) -> Callable[[Any], Call]:
    return lambda torch: getattr(torch.nn, name)(*arguments, **options)


FAMILIES = {
    "elementwise, rows": Program(_chain, lambda n: (n, 300), 50, 2000),
    "elementwise, columns": Program(_chain, lambda n: (300, n), 50, 2000),
    "sums along rows, rows": Program(lambda _: lambda x: x.sum(-1), lambda n: (n, 1000), 50, 2000),
    "sums along rows, columns": Program(
        lambda _: lambda x: x.sum(-1), lambda n: (1000, n), 50, 2000
    ),
    "sums of columns, rows": Program(lambda _: lambda x: x.sum(0), lambda n: (n, 1000), 50, 2000),
    "sums of columns, columns": Program(
        lambda _: lambda x: x.sum(0), lambda n: (1000, n), 50, 2000
    ),
    "softmax, rows": Program(lambda _: lambda x: x.softmax(-1), lambda n: (n, 300), 20, 2000),
    "softmax, columns": Program(lambda _: lambda x: x.softmax(-1), lambda n: (300, n), 20, 2000),
    "layer norm, rows": Program(_layer_norm, lambda n: (n, 300), 20, 2000),
    "layer norm, columns": Program(_layer_norm, lambda n: (300, n), 20, 2000),
    "product, many rows": Program(_with_weight(512, 256), lambda n: (n, 512), 64, 1200),
    "product, few rows": Program(_with_weight(512, 512), lambda n: (n, 512), 2, 40),
    "product with itself": Program(lambda _: lambda x: x @ x.T, lambda n: (n, 256), 32, 500),
    "products of a batch": Program(
        _with_weight(8, 64, 96), lambda n: (8, n, 64), 16, 500
    ),
    "transposed copy": Program(
        lambda _: lambda x: x.transpose(1, 2).contiguous(), lambda n: (8, n, 200), 20, 800
    ),
    "convolution 3×3, images": Program(
        _layer("Conv2d", 32, 32, 3, padding=1), lambda n: (1, 32, n, n + 3), 12, 80
    ),
    "convolution 3×3, batch": Program(
        _layer("Conv2d", 32, 32, 3, padding=1), lambda n: (n, 32, 28, 28), 2, 16
    ),
    "convolution 1×1, images": Program(
        _layer("Conv2d", 64, 64, 1), lambda n: (1, 64, n, n + 3), 12, 80
    ),
    "pooling 2×2, images": Program(
        _layer("MaxPool2d", 2), lambda n: (2, 32, 2 * n, 2 * n + 6), 8, 60
    ),
    "attention, tokens": Program(_attention, lambda n: (4, n, 64), 16, 400),
}
