"""Statements of each kind, and several that go together, as users write them."""

from __future__ import annotations

import re
from collections.abc import Callable

import torch

from tests.imperative_programs.updates import Updates


class Scenes(Updates):
    """`add_KIND()` adds a statement; `play_NAME()` a scene with names of its own."""

    def add_view(self) -> None:
        source = self.any_tensor()
        letter = "r" if source[0] == "r" else "t"
        self.say(f"{self.new_name(letter)} = {self.view(source)}")

    def add_shown(self) -> None:
        self.say(f"{self.new_name('r')} = {self.shown(self.any_tensor())}")

    def add_value(self) -> None:
        statement = f"{self.new_name('t')} = {self.value(self.any_tensor())}"
        if self.chance(0.1):
            statement = f"with T.no_grad(): {statement}"
        self.say(statement)

    def add_update(self) -> None:
        self.say(self.update())

    def add_drop(self) -> None:
        found = self.names("trwf")
        if len(found) > 3:
            self.say(f"del {self.draw(found)}")

    def add_reading(self) -> None:
        found = self.names("trw")
        if not found:
            return
        chosen = [name for name in found if self.chance(0.3)] or [self.draw(found)]
        kind = self.draw(("realize", "realize", "prepare", "read"))
        self.say(f"{kind}({', '.join(chosen[:1] if kind == 'read' else chosen)})")

    def add_check(self) -> None:
        found = self.names("trwmsl")
        if found:
            self.program.append(f"check({', '.join(sorted({self.draw(found) for _ in range(2)}))})")

    def add_branch(self) -> None:
        condition = self.any_tensor()
        first, second = self.update(), self.update()
        if "no_grad" not in first + second:
            self.say(f"if {condition}.sum() > {self.draw((0, 1, -1))}: {first}\nelse: {second}")

    def add_loop(self) -> None:
        """A loop over rows, or over numbers, that changes what it reads."""
        name = self.written_tensor()
        x = self.known[name]
        guard = "with T.no_grad():\n    " if name[0] == "w" else ""
        space = "    " if guard else ""
        if not x.dim() or x.dtype == torch.bool:
            return
        bodies = [
            f"for row in {name}:\n{space}    row.add_(1)",
            f"for k in range(1, {x.shape[0]}):\n{space}    {name}[k] += {name}[k - 1]",
            f"for k in range({x.shape[0]}):\n{space}    {name}[k] = {name}[-1 - k] + k",
            f"for k in range({x.shape[0]}):\n{space}    {name}[:k] *= -1",
            f"for k, row in enumerate({name}):\n{space}    row.copy_({name}[k - 1] + 1)",
            f"for k in range({x.shape[0]}):\n{space}    if {name}[k].sum() > 0: {name}[k] -= 1",
        ]
        self.say(guard + self.draw(bodies))

    # Functions, captured and plain

    def add_function(self) -> None:
        """A function of one or two tensors that may change them, or what it finds outside."""
        if len(self.names("f")) > 2:
            return
        name = self.new_name("f")
        lines = [
            self.draw([
                "x += 1", "x[0] = 2", "x.mul_(0.5)", "x.view(-1)[0] = 3", "x.data.add_(1)", "pass",
                "x[..., 0].add_(y.sum())", "x.view(-1).add_(1)", "x.copy_(old(y))",
                "z = x.detach(); z += 1",
                "y.zero_()", "y.reshape(-1)[:1] += x.sum()",
            ])
            for _ in range(self.draw((1, 1, 2)))
        ]  # fmt: skip
        outside = self.names("t", lambda t: t.dtype == torch.float64)
        if outside and self.chance(0.4):
            lines.append(f"{self.draw(outside)}.{self.draw(('add_(1)', 'mul_(0.5)', 'zero_()'))}")
        if self.chance(0.3):
            update = self.update()
            # How many elements a mask chooses is not known while a function is captured.
            lines.append("pass" if re.search(r"[<>] 0\)?\] [+*]=", update) else update)
        returned = self.draw(
            ("x * 2", "x.sum()", "x + y.sum()", "(x * y).sum()", "y * 1", "x.clone()")
        )
        if outside and self.chance(0.3):
            returned = f"{returned} + {self.draw(outside)}.sum()"
        guard = self.chance(0.5)
        body = "".join([f"\n{'        ' if guard else '    '}{line}" for line in lines])
        if guard:
            body = "\n    with T.no_grad():" + body
        if self.chance(0.7):
            # Gradients do not flow through what a captured function returns.
            self.say(f"@jit\ndef {name}(x, y):{body}\n    return own({returned}).detach()")
        else:
            self.say(f"def {name}(x, y):{body}\n    return own({returned})")

    def add_call(self) -> None:
        functions = self.names("f")
        if not functions:
            return
        first = self.written_tensor()
        second = self.draw(self.names("tw", lambda x: x.dtype == torch.float64) or [first])
        arguments = [self.view(name) if self.chance(0.2) else name for name in (first, second)]
        self.say(f"{self.new_name('t')} = {self.draw(functions)}({', '.join(arguments)})")
        if self.chance(0.5):
            self.say(f"{self.new_name('t')} = {self.draw(functions)}({', '.join(arguments)})")

    # Gradients

    def add_leaf(self) -> None:
        shape = tuple([self.draw((1, 2, 3, 4)) for _ in range(self.draw((1, 1, 2, 2, 2, 3)))])
        self.say(f"{self.new_name('w')} = data({shape}, 'float64', {self.seed()}).requires_grad_()")

    def add_backward(self) -> None:
        found = self.names("trw", lambda x: x.requires_grad)
        if not found:
            return
        name = self.draw(found[-3:])
        weight = self.draw(("", "* 0.5", ".square()", ".tanh()", ".sin()"))
        self.say(f"({name} {weight}).sum().backward(retain_graph=True)")

    def add_step(self) -> None:
        """What is done with a gradient."""
        leaves = self.names("w", lambda x: x.grad is not None)
        if not leaves:
            return
        w = self.draw(leaves)
        self.say(self.draw([
            f"with T.no_grad(): {w} -= 0.1 * {w}.grad", f"{w}.grad.zero_()", f"{w}.grad = None",
            f"{w}.data.add_(-0.1 * {w}.grad)", f"{w}.data.sub_(0.1 * {w}.grad)",
            f"{w}.grad.mul_(0.5)", f"{w}.grad[0] = 1", f"{w}.grad.clamp_(-0.1, 0.1)",
            f"{self.new_name('t')} = {w}.grad", f"{self.new_name('t')} = {w}.grad.clone()",
            f"{w}.data[0] = 0", f"with T.no_grad(): {w}[0].zero_()",
            f"with T.no_grad(): {w}.copy_({w} * 0.5)", f"{w}.data = {w}.data * 0.5",
            f"optim.SGD([{w}], lr=0.1).step()", f"nn.utils.clip_grad_norm_([{w}], 0.5)",
            f"nn.utils.clip_grad_value_([{w}], 0.2)",
            f"{w}.grad.data.zero_()", f"{w}.grad.detach_()", f"{w}.grad.reshape(-1)[0] += 1",
        ]))  # fmt: skip

    # Scenes

    def scenes(self) -> list[Callable[[], None]]:
        return [self.play_training, self.play_training, self.play_state, self.play_buffers,
                self.play_averages, self.play_cache]  # fmt: skip

    def play_training(self) -> None:
        """A small model and an optimizer, some steps of which may be captured."""
        m, o, x = self.new_name("m"), self.new_name("o"), self.add_input(shape=(4, 3))
        layers = self.draw([
            "nn.Linear(3, 3), nn.ReLU(inplace=True), nn.Linear(3, 2)",
            "nn.Linear(3, 4, bias=False), nn.BatchNorm1d(4), nn.Tanh()",
            "nn.Linear(3, 3), nn.LeakyReLU(0.1, inplace=True), nn.LayerNorm(3)",
            "nn.Linear(3, 3), nn.Sigmoid()",
        ])
        self.say(f"{m} = nn.Sequential({layers}).double()\ninputs({m}, {self.seed()})")
        if "3, 3), nn.Sig" in layers:
            self.say(f"{m}.append({m}[0])")
        optimizer = self.draw(("SGD({}, lr=0.1)", "SGD({}, lr=0.1, momentum=0.9)",
                               "Adam({}, lr=0.05)", "AdamW({}, lr=0.05)", "RMSprop({}, lr=0.01)",
                               "SGD({}, lr=0.1, weight_decay=0.1, nesterov=True, momentum=0.5)",
                               "Adagrad({}, lr=0.1)"))  # fmt: skip
        self.say(f"{o} = optim.{optimizer.format(f'{m}.parameters()')}")
        f = self.new_name("f")
        jit = "@jit\n" if self.chance(0.4) else ""
        self.say(
            f"{jit}def {f}(x, y):\n    {o}.zero_grad()\n    loss = {m}(x).square().mean()\n"
            f"    loss.backward()\n    {o}.step()\n    {o}.zero_grad()\n"
            "    return loss.detach()"
        )
        loss = self.new_name("t")
        for _ in range(self.draw((2, 3, 4))):
            if self.chance(0.5):
                self.say(f"{loss} = {f}({x}, {x})")
            else:
                self.eager_step(m, o, x, loss)
            self.between(m, x)

    def eager_step(self, m: str, o: str, x: str, loss: str) -> None:
        """One step of training, with what people write between its lines."""
        self.say(self.draw(
            (f"{o}.zero_grad()", f"{m}.zero_grad()", f"{o}.zero_grad(set_to_none=False)")
        ))  # fmt: skip
        self.say(f"{loss} = {m}({x}).square().mean()")
        if self.chance(0.4):
            self.say(f"read({loss})")
        self.say(f"{loss}.backward()")
        if self.chance(0.3):
            self.say(self.draw((
                f"nn.utils.clip_grad_norm_({m}.parameters(), 0.1)",
                f"for p in {m}.parameters(): p.grad.mul_(0.5)",
                f"for p in {m}.parameters(): p.grad.data.add_(p.data, alpha=0.01)",
            )))  # fmt: skip
        if self.chance(0.2):
            self.say(f"with T.no_grad():\n    for p in {m}.parameters(): p -= 0.1 * p.grad")
        elif self.chance(0.2):
            self.say(f"for p in {m}.parameters(): p.data.add_(p.grad.data, alpha=-0.1)")
        else:
            self.say(f"{o}.step()")

    def between(self, m: str, x: str) -> None:
        """What happens to a model between steps."""
        if self.chance(0.6):
            return
        s, t = self.new_name("s"), self.new_name("t")
        self.say(self.draw([
            f"{s} = {m}.state_dict()", f"{s} = copy.deepcopy({m}.state_dict())",
            f"{s} = {{k: v.clone() for k, v in {m}.state_dict().items()}}",
            f"{t} = {m}[0].weight.data", f"{t} = {m}[0].weight.detach()[0]",
            f"{m}[0].weight.data[0] = 0", f"with T.no_grad(): {m}[0].bias.zero_()",
            f"{m}[0].weight.data[1:].fill_(1)", f"nn.init.ones_({m}[0].weight[1:])",
            f"with T.no_grad(): {m}[0].weight[0].mul_(0.5)", f"{m}.eval()", f"{m}.train()",
            f"{m}[0].weight.requires_grad_(False)", f"{m}[0].weight.requires_grad_(True)",
            f"{t} = {m}({x})", f"{self.new_name('m')} = copy.deepcopy({m})",
            f"for p in {m}.parameters(): p.data.mul_(0.9)", f"{t} = {m}[0].weight.grad",
            f"{m}.load_state_dict({m}.state_dict())",
        ]))  # fmt: skip
        for s in self.names("s"):
            if self.chance(0.3):
                self.say(self.draw([
                    f"{m}.load_state_dict({s})",
                    f"with T.no_grad():\n    for k in {s}: {s}[k].copy_({m}.state_dict()[k])",
                    f"{s}['0.weight'].copy_({s}['0.weight'].clone().flip(0))",
                    f"{s}['0.bias'][0] = 1",
                    f"del {s}",
                ]))  # fmt: skip

    def play_state(self) -> None:
        """Weights copied from one model into another through a state, transposed or not."""
        m = self.new_name("m")
        self.say(f"{m} = nn.Linear(3, 3).double()\ninputs({m}, {self.seed()})")
        s = self.new_name("s")
        self.say(f"{s} = {m}.state_dict()")
        x = self.add_input(shape=(3, 3))
        if self.chance(0.5):
            self.say(f"{self.new_name('t')} = {m}({x})")
        self.say(f"with T.no_grad(): {s}['weight'].copy_({x}.t())")
        self.say(f"{self.new_name('t')} = {m}({x})")
        self.say(f"{s}['bias'][1:] = 5")

    def play_buffers(self) -> None:
        """Memory that is filled part by part."""
        size = self.draw((3, 4))
        x, out = self.add_input(shape=(size, 2)), self.new_name("t")
        self.say(f"{out} = T.zeros({size}, 2, 2, dtype=T.float64)")
        self.say(f"for k in range({size}): {out}[k].copy_({x}[k] * k)")
        self.say(f"{out}[..., 0].copy_({x})")
        if self.chance(0.5):
            self.say(f"{out}[..., 1].copy_({x}[:, :1]).tanh_()")

    def play_averages(self) -> None:
        """Averages of weights over time."""
        m, e = self.new_name("m"), self.new_name("m")
        self.say(f"{m} = nn.Linear(2, 3).double()\ninputs({m}, {self.seed()})")
        self.say(f"{e} = copy.deepcopy({m})\nfor p in {e}.parameters(): p.requires_grad_(False)")
        x = self.add_input(shape=(2, 2))
        for _ in range(3):
            self.say(f"{m}({x}).square().sum().backward()")
            self.say(f"for p in {m}.parameters(): p.data.sub_(0.1 * p.grad); p.grad.zero_()")
            update = self.draw(
                ("p.lerp_(q, 0.1)", "p.mul_(0.9).add_(q, alpha=0.1)",
                 "p.data.copy_(0.9 * p.data + 0.1 * q.data)")
            )  # fmt: skip
            self.say(
                "with T.no_grad():\n"
                f"    for p, q in zip({e}.parameters(), {m}.parameters()): {update}"
            )

    def play_cache(self) -> None:
        """A cache that grows by a row at a time, and is read up to there."""
        cache, out = self.new_name("t"), self.new_name("t")
        w = self.new_name("w")
        self.say(f"{cache} = T.zeros(4, 2, dtype=T.float64)")
        self.say(f"{w} = data((2, 2), 'float64', {self.seed()}).requires_grad_()")
        row = self.add_input(shape=(2,))
        for k in range(self.draw((2, 3, 4))):
            guard = "with T.no_grad(): " if self.chance(0.5) else ""
            self.say(f"{guard}{cache}[{k}:{k + 1}] = ({row} @ {w}).tanh()")
            self.say(f"{out} = {cache}[:{k + 1}].softmax(0).sum(0)")
            if self.chance(0.5):
                self.say(f"{row} = {out}")
