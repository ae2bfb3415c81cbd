"""Texts generated token by token, as people write it: keys and values grow by `cat`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

TOKENS = 200
"""How many tokens a text has."""

WORDS, WIDTH, HEADS, LAYERS = 1000, 256, 4, 2


def token_model(torch: Any) -> Callable[[int], list[int]]:
    """A small language model; called with a first word, it gives a text."""
    nn, functional = torch.nn, torch.nn.functional

    class Layer(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.before, self.between = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
            self.attention, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
            self.wide, self.narrow = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

        def forward(self, x: Any, cache: Any) -> Any:
            q, k, v = [
                part.reshape(1, 1, HEADS, WIDTH // HEADS).transpose(1, 2)
                for part in self.attention(self.before(x)).split(WIDTH, -1)
            ]
            if cache is not None:
                k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
            scores = functional.scaled_dot_product_attention(q, k, v)
            x = x + self.out(scores.transpose(1, 2).reshape(1, 1, WIDTH))
            return x + self.narrow(functional.gelu(self.wide(self.between(x)))), (k, v)

    torch.manual_seed(0)
    embedding, head = nn.Embedding(WORDS, WIDTH), nn.Linear(WIDTH, WORDS)
    layers = [Layer() for _ in range(LAYERS)]

    def generate(first: int) -> list[int]:
        word, text = first, []
        caches = [None] * LAYERS
        with torch.no_grad():
            for _ in range(TOKENS):
                x = embedding(torch.tensor([[word]]))
                for number, layer in enumerate(layers):
                    x, caches[number] = layer(x, caches[number])
                word = int(head(x).argmax(-1).item())
                text.append(word)
        return text

    return generate
