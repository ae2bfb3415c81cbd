"""An e-graph: values that are equal, in classes, over interned nodes.

A class holds all known ways to compute one value. A way is a *form*: an op over classes. Two forms
over equal classes are one, so that whatever is found equal below makes what is above equal, too:

    add x*2, x+x, (x*2)+1, (x+x)+1; then  x*2 = x+x   makes   (x*2)+1 = (x+x)+1

Every class has a `representative`, a node of one of its values: rules are given nodes, and give
nodes, and know nothing of classes.
"""

from __future__ import annotations

from typing import Any

from ogive.ir.dtype import DType
from ogive.ir.node import UOp, exact_argument
from ogive.ir.ops import Op
from ogive.named import NamedTuple


class Form(NamedTuple):
    """A way to compute a value: an op over classes. `argument` tells constants apart by bits."""

    op: Op
    dtype: DType
    argument: Any
    tag: Any
    below: tuple[int, ...]


class Equalities:
    """Classes of equal values. `find` leads from any number a class had to the one it has."""

    def __init__(self) -> None:
        self._leaders: list[int] = []
        self._forms: dict[Form, int] = {}
        self._numbers: dict[UOp, int] = {}
        self._members: list[dict[Form, UOp]] = []
        self._readers: list[list[tuple[Form, int]]] = []
        self._pending: list[int] = []
        self.representatives: list[UOp] = []
        self.found_by: dict[Form, str] = {}

    def __len__(self) -> int:
        """The number of forms."""
        return len(self._forms)

    def find(self, number: int) -> int:
        """The class that a number stands for now."""
        leaders = self._leaders
        while leaders[number] != number:
            leaders[number] = leaders[leaders[number]]
            number = leaders[number]
        return number

    def classes(self) -> list[int]:
        """All classes, in the order they were made."""
        return [number for number, leader in enumerate(self._leaders) if number == leader]

    def members(self, number: int) -> dict[Form, UOp]:
        """The forms of a class, each with a node that has its op and argument."""
        return self._members[number]

    def add(self, root: UOp, rule: str = "") -> int:
        """The class of a node, which is made with all below it if it is new."""
        numbers = self._numbers
        stack = [root]
        while stack:
            node = stack[-1]
            if node in numbers:
                stack.pop()
                continue
            missing = [source for source in node.src if source not in numbers]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            numbers[node] = self._add_form(node, rule)
        return self.find(numbers[root])

    def _add_form(self, node: UOp, rule: str) -> int:
        below = tuple([self.find(self._numbers[source]) for source in node.src])
        form = Form(node.op, node.dtype, exact_argument(node.op, node.arg), node.tag, below)
        known = self._forms.get(form)
        if known is not None:
            return known
        number = len(self._leaders)
        self._leaders.append(number)
        self._forms[form] = number
        self._members.append({form: node})
        self._readers.append([])
        self.representatives.append(node)
        if rule:
            self.found_by[form] = rule
        for source in set(below):
            self._readers[source].append((form, number))
        return number

    def union(self, first: int, second: int) -> bool:
        """Make two classes one; whether they were not. `rebuild` has to follow."""
        kept, gone = sorted([self.find(first), self.find(second)])
        if kept == gone:
            return False
        old, new = self.representatives[kept], self.representatives[gone]
        assert old.dtype is new.dtype and old.shape == new.shape, f"{old!r} is no {new!r}"
        self._leaders[gone] = kept
        self._members[kept].update(self._members[gone])
        self._readers[kept].extend(self._readers[gone])
        self._members[gone] = {}
        self._readers[gone] = []
        self._pending.append(kept)
        return True

    def rebuild(self) -> None:
        """Let forms over classes that are one now be one, and what follows from that."""
        while self._pending:
            pending = {self.find(number) for number in self._pending}
            self._pending.clear()
            for number in sorted(pending):
                self._rebuild_readers(self.find(number))

    def _rebuild_readers(self, number: int) -> None:
        readers, self._readers[number] = self._readers[number], []
        seen: dict[Form, int] = {}
        for form, user in readers:
            user = self.find(user)
            renewed = form._replace(below=tuple([self.find(each) for each in form.below]))
            if renewed is not form and renewed != form:
                self._renew(form, renewed, user)
            user = self.find(user)
            if renewed in seen:
                self.union(seen[renewed], user)
            seen[renewed] = self.find(user)
            known = self._forms.get(renewed)
            if known is not None and self.find(known) != self.find(user):
                self.union(known, user)
            self._forms[renewed] = self.find(user)
        self._readers[self.find(number)].extend([(f, self.find(u)) for f, u in seen.items()])

    def _renew(self, form: Form, renewed: Form, user: int) -> None:
        self._forms.pop(form, None)
        node = self._members[user].pop(form, None)
        if node is not None:
            self._members[user].setdefault(renewed, node)
        rule = self.found_by.pop(form, "")
        if rule:
            self.found_by.setdefault(renewed, rule)
