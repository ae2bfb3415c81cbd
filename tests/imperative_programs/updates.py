"""Statements that change tensors in place, through whatever shows their memory."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from tests.imperative_programs.expressions import Expressions

PLAIN = ("zero_()", "fill_(2)", "neg_()", "abs_()", "clamp_(-1, 1)", "square_()", "relu_()",
         "clamp_(min=0)", "sign_()", "add_(1)", "sub_(2)", "mul_(-1)", "fill_diagonal_(3)",
         "tril_()", "triu_(1)", "cumsum_(-1)", "clamp_max_(1)", "mul_(3)")  # fmt: skip
SMOOTH = ("tanh_()", "sin_()", "sigmoid_()", "exp_()", "mul_(0.5)", "div_(2)", "cos_()", "pow_(2)",
          "lerp_(T.zeros_like(self), 0.25)", "renorm_(2, 0, 1.0)", "leaky_relu_(0.1)",
          "addcmul_(old(self), old(self), value=0.5)", "atan_()", "elu_()")  # fmt: skip


class Updates(Expressions):
    """`update_KIND(target)` gives a statement that writes to a target, an expression or a name."""

    def target(self) -> tuple[str, torch.Tensor]:
        """What is written to: a tensor, or a view of one that has no name of its own."""
        name = self.written_tensor()
        text = name if self.chance(0.6) else self.view(name)
        if text != name and self.chance(0.1):
            text = f"{name}.detach()"
        try:
            x = eval(text, self.known)
        except Exception:
            text, x = name, self.known[name]
        return text, x

    def operand(self, x: torch.Tensor) -> str:
        """What is read for it: something that broadcasts to the target."""
        found = self.names("trw", lambda y: y.dtype == x.dtype and _broadcasts(y, x))
        if found and self.chance(0.7):
            other = self.draw(found)
            is_halved = x.dtype == torch.float64 and self.chance(0.3)
            return f"old({other} * 0.5)" if is_halved else f"old({other})"
        if self.chance(0.4):
            return self.draw(("1", "2", "-1"))
        return f"data({tuple(x.shape)}, {str(x.dtype)[6:]!r}, {self.seed()})"

    def update(self) -> str:
        """A statement that changes something in place."""
        text, x = self.target()
        kinds = [self.update_plain, self.update_with, self.update_with, self.update_item,
                 self.update_item, self.update_item, self.update_positions]  # fmt: skip
        statement = self.draw(kinds)(text, x)
        if self.chance(0.25 if text[0] != "w" else 0.9):
            statement = f"with T.no_grad(): {statement}"
        return statement

    def update_plain(self, text: str, x: torch.Tensor) -> str:
        names: Sequence[str] = PLAIN + SMOOTH if x.dtype == torch.float64 else PLAIN
        if x.dtype == torch.bool:
            names = ("zero_()", "fill_(True)", "logical_not_()", "bitwise_not_()")
        return f"{text}.{self.draw(names).replace('self', text)}"

    def update_with(self, text: str, x: torch.Tensor) -> str:
        operand = self.operand(x)
        if x.dtype == torch.bool:
            return f"{text}.{self.draw(('copy_', 'logical_or_', 'logical_and_'))}({operand})"
        if "." not in text and "[" not in text and self.chance(0.4):
            return f"{text} {self.draw(('+=', '-=', '*='))} {operand}"
        if operand.lstrip("-").isdigit():
            return f"{text}.{self.draw(('add_', 'mul_', 'fill_', 'sub_'))}({operand})"
        return f"{text}.{self.draw(('add_', 'mul_', 'copy_', 'copy_', 'sub_'))}({operand})"

    def update_item(self, text: str, x: torch.Tensor) -> str:
        """`target[index] = value`, or `+=`."""
        if self.chance(0.35):
            return self.update_selected(text, x)
        index = self.index(tuple(x.shape))
        if not index:
            index = "..."
        try:
            part = eval(f"x[{index}]", {"x": x})
        except Exception:
            index, part = "...", x
        sign = "=" if x.dtype == torch.bool else self.draw(("=", "=", "+=", "*="))
        return f"{text}[{index}] {sign} {self.operand(part)}"

    def update_selected(self, text: str, x: torch.Tensor) -> str:
        """With a mask, or positions that are data."""
        number = self.draw(("0", "1", "2"))
        if x.dim() and x.shape[0] and self.chance(0.5):
            index = self.positions(x.shape[0], once=True)
            part = x[eval(index, self.known)]
            return f"{text}[{index}] {self.draw(('=', '=', '+='))} {self.operand(part)}"
        if x.dtype == torch.bool:
            return f"{text}[{text}] = False"
        return self.draw([
            f"{text}[{text} > 0] = {number}", f"{text}[old({text} < 0)] += {number}",
            f"{text}.masked_fill_({text} > 0.5, {number})",
            f"{text}[{text} > 0] *= -1",
        ])  # fmt: skip

    def update_positions(self, text: str, x: torch.Tensor) -> str:
        """index_add_, index_fill_, index_copy_, scatter_, scatter_add_ and others."""
        if not x.dim() or not x.numel() or x.dtype == torch.bool:
            return self.update_plain(text, x)
        axis = self.axis(x.dim())
        positions = self.positions(x.shape[axis], once=True)
        count = len(eval(positions, self.known))
        shape = list(x.shape)
        shape[axis] = count
        source = f"data({tuple(shape)}, {str(x.dtype)[6:]!r}, {self.seed()})"
        index = f"(data({tuple(shape)}, 'int64', {self.seed()}) % {x.shape[axis]})"
        return self.draw([
            f"{text}.index_add_({axis}, {positions}, {source})",
            f"{text}.index_fill_({axis}, {positions}, 1)",
            f"{text}.index_copy_({axis}, {positions}, {source})",
            f"{text}.scatter_add_({axis}, {index}, {source})",
            f"{text}.scatter_({axis}, {index}, 2)",
            f"{text}.index_put_(({self.positions(x.shape[0])},), T.ones_like({text})[0], "
            "accumulate=True)",
        ])  # fmt: skip


def _broadcasts(y: torch.Tensor, x: torch.Tensor) -> bool:
    pairs = zip(reversed(y.shape), reversed(x.shape), strict=False)
    return y.dim() <= x.dim() and all(a in (1, b) for a, b in pairs)
