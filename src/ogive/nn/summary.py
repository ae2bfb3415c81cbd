"""The summary of a model: its modules, the shapes they give, their parameters."""

from __future__ import annotations

from typing import Any

from ogive.nn.module import AnyModule
from ogive.tensor.tensor import Tensor


class Summary:
    """Rows of (path, kind, shape of the result, parameters), which print as a table."""

    def __init__(self, rows: list[tuple[str, str, str, int]], total: int, trained: int) -> None:
        self.rows = rows
        self.total_parameters = total
        self.trained_parameters = trained

    def __str__(self) -> str:
        heads = ("module", "kind", "result", "parameters")
        cells = [heads, *[(*row[:3], f"{row[3]:,}") for row in self.rows]]
        widths = [max(len(row[column]) for row in cells) for column in range(4)]
        lines = []
        for row in cells:
            left = [cell.ljust(width) for cell, width in zip(row[:3], widths[:3], strict=True)]
            lines.append("  ".join([*left, row[3].rjust(widths[3])]))
        rule = "-" * len(lines[0])
        end = f"{self.total_parameters:,} parameters, {self.trained_parameters:,} of them trained"
        return "\n".join([lines[0], rule, *lines[1:], rule, end])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        import html  # late, because it loads a table of all HTML entities

        return f"<pre>{html.escape(str(self))}</pre>"


def summary(model: AnyModule, *inputs: Any, **named: Any) -> Summary:
    """The modules of a model in the order in which they are called with `inputs`.

    >>> print(ogive.summary(nn.Sequential(nn.Linear(2, 3), nn.ReLU()), ogive.ones(4, 2)))
    module  kind        result  parameters
    --------------------------------------
    0       Linear      (4, 3)           9
    1       ReLU        (4, 3)           0
            Sequential  (4, 3)           9
    --------------------------------------
    9 parameters, 9 of them trained

    Nothing is computed but shapes. A module that is called twice has two rows.
    """
    rows: list[tuple[str, str, str, int]] = []
    handles = []
    for path, module in model.named_modules():

        def note(module: AnyModule, args: Any, result: Any, path: str = path) -> None:
            count = sum(parameter.numel() for parameter in module.parameters())
            rows.append((path, type(module).__name__, _shapes(result), count))

        handles.append(module.register_forward_hook(note))
    was_training = model.training
    try:
        model.eval()(*inputs, **named)
    finally:
        model.train(was_training)
        for handle in handles:
            handle.remove()
    sizes = [(parameter.numel(), parameter.requires_grad) for parameter in model.parameters()]
    return Summary(
        rows, sum(size for size, _ in sizes), sum(size for size, trained in sizes if trained)
    )


def _shapes(result: Any) -> str:
    if isinstance(result, Tensor):
        return str(tuple(result.shape))
    if isinstance(result, tuple | list):
        return ", ".join([_shapes(each) for each in result])
    return type(result).__name__
