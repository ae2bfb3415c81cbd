"""Single calls on small tensors, rows of `python -m benchmarks programs`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy

CALLS = (
    "x + y", "x * 2.0", "x / y", "x > 0", "w * w", "x.sum()", "x.sum(dim=1, keepdim=True)",
    "x.mean(0)", "x.max(1)", "x.argmax(1)", "x.softmax(-1)", "F.log_softmax(w, dim=-1)",
    "x[3]", "w[3]", "x[:, 2]", "x[x > 0]", "list(x)", "x.reshape(16, 8)", "x.transpose(0, 1)",
    "T.cat([x, y])", "T.stack([w, y])", "T.where(x > 0, x, y)", "x @ y.T", "F.relu(x)",
    "T.tanh(w)", "F.gelu(x)", "F.cross_entropy(w, classes)", "F.mse_loss(w, y)",
    "linear(x)", "norm(x)", "batch_norm(x)", "dropout(x)", "embedding(classes)", "cell(x)",
    "lstm(sequence)", "attention(sequence, sequence, sequence)", "encoder(sequence)",
    "encoder(sequence).sum().backward()", "(w * w).sum().backward()",
    "T.autograd.grad((w ** 3).sum(), w, create_graph=True)", "list(encoder.parameters())",
    "encoder.state_dict()", "[batch for batch in loader]", "T.tensor([1.0, 2.0])",
    "T.zeros(8, 16)", "T.randn(8, 16)", "nn.Linear(16, 16)",
)  # fmt: skip
"""What is called: `x` and `y` are tensors of shape (8, 16), `w` one with a gradient."""


def calls_for(library: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """The calls as turns for one library."""
    nn, data = library.nn, library.utils.data
    draw = numpy.random.default_rng(0)
    x, y, w = [library.tensor(draw.random((8, 16)).astype("float32")) for _ in range(3)]
    classes = library.tensor(draw.integers(0, 16, 8))
    names = {
        "T": library, "nn": nn, "F": nn.functional, "x": x, "y": y, "w": w.requires_grad_(),
        "classes": classes, "sequence": library.tensor(draw.random((4, 6, 16)).astype("float32")),
        "linear": nn.Linear(16, 16), "norm": nn.LayerNorm(16), "batch_norm": nn.BatchNorm1d(16),
        "dropout": nn.Dropout(), "embedding": nn.Embedding(16, 8), "cell": nn.LSTMCell(16, 32),
        "lstm": nn.LSTM(16, 32), "attention": nn.MultiheadAttention(16, 4, batch_first=True),
        "encoder": nn.TransformerEncoderLayer(16, 4, 32, batch_first=True),
        "loader": data.DataLoader(data.TensorDataset(x, classes), batch_size=2),
    }  # fmt: skip
    for call in CALLS:
        yield call, eval(f"lambda: {call}", names)
