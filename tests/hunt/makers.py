"""Each maker as a function from seeds and a target to what was run and what differs."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import torch as pytorch

import ogive
import ogive.torch as ours
from ogive import Config
from ogive.config import settings
from tests import (
    changing_sizes,
    imperative_programs,
    line_programs,
    movement_chains,
    random_programs,
    symbolic_chains,
)
from tests.changing_sizes import chains as chains_of_lengths
from tests.eager import random_programs as eager_programs
from tests.hunt import rounding
from tests.hunt.shrinking import shrink
from tests.movement_chains.targets import distinct_targets, running_on
from tests.random_programs import Instruction, Unsuitable


class Difference(NamedTuple):
    """A program that gave something else than it should, cut down."""

    seed: int
    words: str
    program: str


class Outcome(NamedTuple):
    """What some seeds gave."""

    programs: int
    cases: int
    differences: list[Difference]
    by_rounding: int = 0
    """Programs that are beyond the bounds only where rounding decides."""


class Maker(NamedTuple):
    """How seeds are run, how many at a time, and on which targets."""

    run: Callable[[range, str], Outcome]
    group: int
    targets: tuple[str, ...]


COMPILED = distinct_targets()
TIERS = ("eager", "lazy")
"""Whether small tensors of `ogive.torch` are computed with at once, or all go by the compiler."""

THOROUGH = 4
"""One group of so many is verified after each pass and computed by the reference, too."""


@contextlib.contextmanager
def _running(target: str, **changes: Any) -> Iterator[Config]:
    """Have all code made for a target, with its settings in force, nothing kept on disk."""
    before = {name: getattr(settings.current(), name) for name in _SETTINGS}
    with running_on(target) as config:
        config = replace(config, disk_cache=False, **changes)
        ogive.configure(**{name: getattr(config, name) for name in _SETTINGS})
        try:
            yield config
        finally:
            ogive.configure(**before)


_SETTINGS = (
    "kernel_node_limit", "vectorize", "poison", "verify", "planner", "disk_cache", "eager",
)  # fmt: skip


def run_chains(seeds: range, target: str) -> Outcome:
    """Movement chains before one consumer, the whole range in one realization."""
    thorough = seeds.start // len(seeds) % THOROUGH == 0
    with _running(target, verify=thorough) as config:
        cases = [movement_chains.draw_case(seed) for seed in seeds]
        found = movement_chains.run_cases(cases, config, by_reference=thorough)
    differences = [Difference(each.case.seed, each.words, str(each.case)) for each in found]
    return Outcome(len(seeds), len(seeds), differences)


def run_sizes(seeds: range, target: str) -> Outcome:
    """Chains over symbolic sizes, compiled once and run with many sizes."""
    cases, differences = 0, []
    with _running(target, verify=seeds.start // len(seeds) % THOROUGH == 0) as config:
        for seed in seeds:
            program = symbolic_chains.draw_program(seed)
            outcome = symbolic_chains.run_program(program, config)
            cases += outcome.cases
            if outcome.words is not None:
                differences.append(Difference(seed, outcome.words, str(program)))
    return Outcome(len(seeds), cases, differences)


def run_expressions(seeds: range, target: str) -> Outcome:
    """Expression graphs, beside NumPy with bounds on the rounding."""
    cases, differences = 0, []
    with _running(target) as config:
        for seed in seeds:
            own = replace(
                random_programs.config_for(seed), vectorize=config.vectorize, disk_cache=False,
                planner=config.planner, verify=seed % THOROUGH == 0,
            )  # fmt: skip
            program = random_programs.generate(seed)
            words = expression_failure(program, own)
            if words is None:
                cases += len({each.out for each in program if each.kind not in _NOT_COMPUTED})
            else:
                small = shrink(program, partial(expression_failure, config=own))
                differences.append(Difference(seed, words, "\n".join(map(_describe, small))))
    return Outcome(len(seeds), cases, differences)


_NOT_COMPUTED = {
    "input", "full", "arange", "draw", "realize", "prepare", "check", "drop", "assign", "setitem",
}  # fmt: skip


def _describe(instruction: Instruction) -> str:
    return f"{instruction.out}: {instruction.kind}{instruction.inputs} {instruction.arguments}"


def expression_failure(program: Sequence[Instruction], config: Config) -> str | None:
    """What goes wrong when a program is run, if anything does."""
    try:
        random_programs.run(list(program), config)
    except Unsuitable:
        return None
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def run_imperative(seeds: range, target: str) -> Outcome:
    """Views, updates in place, gradients, captured functions, beside PyTorch."""
    programs, cases, differences = 0, 0, []
    with _running(target, verify=False):
        for seed in seeds:
            try:
                program = imperative_programs.generate(seed)
            except RuntimeError:
                continue  # PyTorch does not do again what it has done
            programs += 1
            words = imperative_failure(program)
            if words is None:
                cases += _names_computed(program)
            else:
                small = shrink(program, imperative_failure)
                differences.append(Difference(seed, words, "\n".join(small)))
    return Outcome(programs, cases, differences)


def imperative_failure(program: Sequence[str]) -> str | None:
    """What goes wrong when a program is run, if anything does."""
    try:
        imperative_programs.run(program)
    except Exception as error:
        cause = error.__cause__
        return f"{type(error if cause is None else cause).__name__}: {error}"
    return None


def _names_computed(program: Sequence[str]) -> int:
    """How many names a program gives a value to, beyond those of its inputs."""
    given = [line.partition(" = ") for line in program]
    names = {name for name, sign, value in given if sign and name.isidentifier()}
    inputs = {name for name, _, value in given if value.startswith("data(")}
    return len(names - inputs)


def run_lines(kind: str, seeds: range, target: str) -> Outcome:
    """Programs as lines of text under `ogive.torch`, beside PyTorch."""
    cases, by_rounding, differences = 0, 0, []
    with _running("usual", eager=target == "eager", poison=True):
        for seed in seeds:
            lines = line_programs.MAKERS[kind](seed)
            words = line_programs.difference(lines)
            if words is not None and (words := line_failure(lines)) is None:
                by_rounding += 1
            if words is None:
                cases += line_programs.count_computed(lines)
            else:
                small = shrink(lines, line_failure)
                differences.append(Difference(seed, words, "\n".join(small)))
    return Outcome(len(seeds), cases, differences, by_rounding)


def line_failure(lines: Sequence[str]) -> str | None:
    """What differs beyond what rounding decides, if PyTorch runs the lines at all."""
    lines = list(lines)
    try:
        return line_programs.difference(lines) and line_programs.difference(
            lines, rounding.spreads(lambda: [x for _, x in line_programs.run(pytorch, lines)])
        )
    except Exception:
        return None


def run_eager(seeds: range, target: str) -> Outcome:
    """Steps over small tensors of `ogive.torch`, all compared after each, beside PyTorch."""
    cases, by_rounding, differences = 0, 0, []
    with _running("usual", eager=target == "eager"):
        for seed in seeds:
            steps = eager_programs.Maker(seed).program(30)
            words = eager_programs.difference(steps, pytorch, ours)
            if words is not None and (words := eager_failure(steps)) is None:
                by_rounding += 1
            if words is None:
                cases += eager_programs.count_steps(steps, pytorch)
            else:
                program = "\n".join([name for name, _ in steps])
                differences.append(Difference(seed, words, program))
    return Outcome(len(seeds), cases, differences, by_rounding)


def eager_failure(steps: list[tuple[str, eager_programs.Step]]) -> str | None:
    """What differs beyond what rounding decides."""
    spreads = rounding.spreads(partial(eager_programs.shown, steps, pytorch))
    return eager_programs.difference(steps, pytorch, ours, spreads)


def run_changing(seeds: range, target: str) -> Outcome:
    """One graph for all numbers of rows, beside one graph for each."""
    cases, differences = 0, []
    with _running(target, verify=False):
        for seed in seeds:
            program = changing_sizes.draw_program(seed)
            found = changing_sizes.differences(program, seed)
            cases += len(changing_sizes.SIZES) * changing_sizes.RESULTS
            differences += [Difference(seed, words, str(program)) for words in found[:1]]
    return Outcome(len(seeds), cases, differences)


def run_lengths(seeds: range, target: str) -> Outcome:
    """Chains over tensors of many sizes, by the graphs that serve all of them."""
    cases, differences = 0, []
    is_thorough = seeds.start // len(seeds) % THOROUGH == 0
    # Poison would touch all the memory that the greatest lengths would take.
    with _running(target, verify=is_thorough, poison=False):
        for seed in seeds:
            program = chains_of_lengths.draw_program(seed)
            outcome = chains_of_lengths.run_program(program)
            cases += outcome.cases
            if outcome.words is not None:
                differences.append(Difference(seed, outcome.words, str(program)))
    return Outcome(len(seeds), cases, differences)


MAKERS: dict[str, Maker] = {
    "chains": Maker(run_chains, 16, COMPILED),
    "sizes": Maker(run_sizes, 4, COMPILED),
    "expressions": Maker(run_expressions, 8, ("host", "avx2", "narrow", "scalar", "usual")),
    "imperative": Maker(run_imperative, 16, ("usual", "avx2", "tiny")),
    "changing": Maker(run_changing, 4, ("usual",)),
    "lengths": Maker(run_lengths, 4, COMPILED),
    "eager": Maker(run_eager, 50, TIERS),
    **{
        kind: Maker(partial(run_lines, kind), 16, TIERS) for kind in line_programs.MAKERS
    },
}


def run(name: str, seeds: range, target: str) -> Outcome:
    """Run the programs of some seeds; warnings of either library are no matter."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MAKERS[name].run(seeds, target)
