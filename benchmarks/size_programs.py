"""Programs whose sizes change with every call, in a process that is asked for one size at a time.

    python -m benchmarks.size_programs OURS        with Ogive, as it is set up by the environment
    python -m benchmarks.size_programs torch       the same with PyTorch, without `jit`

Requests and replies are lines of JSON:

    {"program": "softmax, rows", "captured": true, "size": 37, "calls": 8}

gives the least processor time of so many calls, in seconds, and how many graphs were compiled.
Processor time, of one thread, is hardly changed by what else the machine does.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy

from benchmarks.process import Reply
from benchmarks.size_models import FAMILIES, MODELS, Program
from benchmarks.token_model import TOKENS, token_model

GENERATED = "tokens"
"""The program that generates tokens, one after the other; its size is the number of the text."""


class Programs:
    """The programs of one process, made when they are first asked for."""

    def __init__(self, library: str) -> None:
        is_ours = library != "torch"
        self.ogive: Any = importlib.import_module("ogive") if is_ours else None
        self.torch: Any = importlib.import_module("ogive.torch" if is_ours else "torch")
        self.generator = numpy.random.default_rng(0)
        self._made: dict[tuple[str, bool], Callable[[Any], Any]] = {}
        self._generate: Callable[[int], Any] | None = None
        if not is_ours:
            self.torch.set_num_threads(1)

    def answer(self, request: Reply) -> Reply:
        """Measure one size of one program."""
        before = self._compiled()
        if request["program"] == GENERATED:
            self._generate = self._generate or token_model(self.torch)
            start = time.thread_time()
            self._generate(request["size"])
            seconds = (time.thread_time() - start) / TOKENS
        else:
            seconds = self._least(request)
        return {"seconds": seconds, "made": self._compiled() - before}

    def _compiled(self) -> int:
        return self.ogive.counters()["schedules_created"] if self.ogive is not None else 0

    def _least(self, request: Reply) -> float:
        program = {**MODELS, **FAMILIES}[request["program"]]
        call = self._call(request["program"], program, request["captured"])
        values = self.generator.random(program.shape(request["size"])).astype("float32")
        x = self.torch.tensor(values)
        times = []
        with self.torch.no_grad():
            for _ in range(request["calls"]):
                start = time.thread_time()
                call(x)
                times.append(time.thread_time() - start)
        return min(times)

    def _call(self, name: str, program: Program, captured: bool) -> Callable[[Any], Any]:
        known = self._made.get((name, captured))
        if known is None:
            self.torch.manual_seed(0)
            model = program.make(self.torch)
            known = self.ogive.jit(model) if captured else lambda x: model(x).sum().item()
            self._made[name, captured] = known
        return known


def main() -> None:
    """Serve until stdin closes."""
    # What a library prints must not mix with the replies.
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    programs = Programs(sys.argv[1])
    for line in sys.stdin:
        print(json.dumps(programs.answer(json.loads(line))), file=replies, flush=True)


if __name__ == "__main__":
    main()
