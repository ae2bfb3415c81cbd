"""Expressions: views of a tensor, values computed from tensors, indices."""

from __future__ import annotations

import torch

from tests.imperative_programs.drawing import Drawing

SMOOTH = ("tanh()", "sin()", "sigmoid()", "exp().tanh()", "square()", "abs()", "relu()", "neg()",
          "clamp(-1, 1)", "softmax(-1)", "cumsum(-1)", "flip(0)", "clone()",
          "roll(1, 0)", "sort(-1)[0]", "tril()", "pow(2)", "mean()", "sum()", "amax(-1)",
          "sum(0, keepdim=True)", "max()", "var()", "norm()", "logsumexp(0)",
          "detach().clone()", "std(-1)", "diff()", "repeat(2)", "prod()", "min(0)[0]",
          "cos()")  # fmt: skip
WHOLE = ("neg()", "abs()", "clamp(-2, 2)", "sum()", "square()", "cumsum(-1)", "flip(0)", "clone()",
         "amax(-1)", "sort(-1)[0]", "argmax(-1)", "bitwise_not()", "roll(1, 0)",
         "sign()", "prod()", "double()", "max(-1)[1]")  # fmt: skip
LOGICAL = ("logical_not()", "any()", "all()", "long()", "double()", "clone()", "sum()", "flip(0)")


class Expressions(Drawing):
    """`KIND(name)` draws the text of an expression of that name."""

    def axis(self, rank: int) -> int:
        return int(self.random.integers(-rank, rank)) if rank else 0

    def index(self, shape: tuple[int, ...]) -> str:
        """A basic index. PyTorch takes no negative steps."""
        entries = [self.entry(size) for size in shape]
        if len(entries) > 1 and self.chance(0.3):
            place = int(self.random.integers(len(entries)))
            del entries[place : place + int(self.random.integers(1, 3))]
            entries.insert(place, "...")
        elif self.chance(0.4):
            entries = entries[: int(self.random.integers(len(entries) + 1))] or ["..."]
        if self.chance(0.15):
            entries.insert(int(self.random.integers(len(entries) + 1)), "None")
        return ", ".join(entries) if entries else "..."

    def entry(self, size: int) -> str:
        if self.chance(0.25) and size:
            return str(int(self.random.integers(-size, size)))
        if self.chance(0.3):
            return ":"
        low = self.draw(("", "0", "1", "-2", "-1", "2"))
        high = self.draw(("", "", "-1", str(size), str(size + 1), "3"))
        return f"{low}:{high}" + self.draw(("", "", ":2", ":3", ":1"))

    def view(self, name: str) -> str:
        """A view of a tensor: another tensor that shows some of its memory."""
        x = self.known[name]
        rank, shape = x.dim(), tuple(x.shape)
        axis, other = self.axis(rank), self.axis(rank)
        length = shape[axis] if rank else 1
        start = int(self.random.integers(max(1, length)))
        order = tuple(map(int, self.random.permutation(rank)))
        kinds = [
            f"{name}[{self.index(shape)}]", f"{name}[{self.index(shape)}]",
            f"{name}.view{self.other_shape(shape)}", f"{name}.reshape{self.other_shape(shape)}",
            f"{name}.reshape(-1)", f"{name}.view(-1)", f"{name}.detach()", f"{name}.data",
            f"{name}.flatten()", f"{name}.ravel()", f"{name}.squeeze()", f"{name}.contiguous()",
            f"{name}.unsqueeze({self.axis(rank + 1)})", f"{name}.to(T.{str(x.dtype)[6:]})",
            f"{name}.view_as({name})", f"{name}",
        ]  # fmt: skip
        if rank:
            kinds += [
                f"{name}.permute{order if rank > 1 else '(0)'}",
                f"{name}.transpose({axis}, {other})", f"{name}.swapaxes({axis}, {other})",
                f"{name}.movedim({axis}, {other})", f"{name}.select({axis}, {start})",
                f"{name}.narrow({axis}, {start}, {length - start})",
                f"{name}.split({self.draw((1, 2, 3))}, {axis})[{self.draw((0, -1))}]",
                f"{name}.chunk({self.draw((1, 2, 3))}, {axis})[{self.draw((0, -1))}]",
                f"{name}.tensor_split({self.draw((1, 2, 3))}, {axis})[{self.draw((0, -1))}]",
                f"{name}.unbind({axis})[{self.draw((0, -1))}]", f"{name}.squeeze({axis})",
                f"{name}.unflatten({axis}, ({self.draw((1, 2, 3, -1))}, -1))",
                f"T.atleast_2d({name})", f"{name}.flatten({self.draw((0, 1))}, {axis})",
            ]  # fmt: skip
        if rank == 2:
            kinds += [f"{name}.T", f"{name}.t()", f"{name}.mT", f"{name}.diagonal()"]
        if rank >= 2:
            kinds += [
                f"{name}.mT", f"{name}.diagonal({self.draw((0, 1, -1))}, {axis}, {other})",
                f"{name}.diagonal({self.draw((0, 1, -1))}, -2, -1)",
                f"{name}.movedim((0, 1), ({axis}, {other}))",
            ]  # fmt: skip
        return self.draw(kinds)

    def shown(self, name: str) -> str:
        """A view that repeats elements or computes them, which is only read."""
        x = self.known[name]
        shape = tuple(x.shape)
        wide = tuple([self.draw((2, 3)) if size == 1 else size for size in shape])
        kinds = [f"{name}.expand({(self.draw((1, 2)), *wide)})", f"{name}.broadcast_to({wide})"]
        if shape:
            axis = self.axis(len(shape))
            size = int(self.random.integers(1, shape[axis] + 1)) if shape[axis] else 1
            kinds.append(f"{name}.unfold({axis}, {size}, {self.draw((1, 2))})")
        if shape and shape[-1] == 2 and x.dtype == torch.float64:
            kinds += [f"T.view_as_complex({name}).{part}" for part in ("real", "imag")]
        return self.draw(kinds)

    def other_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """A shape of as many elements."""
        factors = [f for size in shape for f in ((2, size // 2) if size in (4, 6) else (size,))]
        made: list[int] = []
        for factor in factors:
            if made and self.chance(0.5):
                made[-1] *= factor
            else:
                made.append(factor)
        if self.chance(0.2):
            made.insert(int(self.random.integers(len(made) + 1)), 1)
        return tuple(made)

    def value(self, name: str) -> str:
        """Something new that is computed from a tensor."""
        x = self.known[name]
        if self.chance(0.4):
            return self.pair(name)
        names = SMOOTH if x.dtype == torch.float64 else WHOLE
        call = self.draw(LOGICAL if x.dtype == torch.bool else names)
        return f"own({name}.{call.replace('self', name)})"

    def pair(self, name: str) -> str:
        """Something that is computed from two tensors, one of them perhaps a view."""
        x = self.known[name]
        other = self.any_tensor(x.dtype)
        right = self.view(other) if self.chance(0.4) else other
        if x.dtype == torch.bool:
            return f"own({name} {self.draw(('&', '|', '^'))} {right})"
        if self.chance(0.15):
            return f"own({name} {self.draw(('>', '<', '>=', '=='))} {right})"
        if self.chance(0.15):
            return f"own({name} @ {right})"
        if self.chance(0.15):
            kind = self.draw(("stack", "cat"))
            return f"T.{kind}([{name}, {right}], {self.draw((0, -1))})"
        if self.chance(0.2):
            return f"own(T.where({name} > 0, {name}, {right}))"
        if self.chance(0.2):
            return f"own({name}[{self.positions(x.shape[0])}])" if x.dim() else f"own({name} * 2)"
        half = "* 0.5" if x.dtype == torch.float64 else ""
        return f"own({name} {self.draw(('+', '-', '*', '* 0.5 +'))} {right} {half})"

    def positions(self, length: int, once: bool = False) -> str:
        """Positions along an axis, as a tensor."""
        count = int(self.random.integers(1, 4))
        if once:
            found = self.random.permutation(max(1, length))[:count]
        else:
            found = self.random.integers(0, max(1, length), count)
        if self.chance(0.2):
            found = found - length
        return f"T.tensor({found.tolist()})"
