"""The compiled graph: a replay program over buffer slots, without any run's memory in it."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

from ogive.compiler.devices.buffer import Buffer, poisoned_buffer
from ogive.compiler.devices.known_devices import find_device, host
from ogive.compiler.devices.memory_planner import Life, MemoryPlan, Places, describe, place
from ogive.compiler.devices.protocol import Device, DeviceStep, HostStep, KernelStep, Pool, Program
from ogive.compiler.engine.caches.kept_panels import Panel, find_panels
from ogive.compiler.engine.caches.kernels import Kernel
from ogive.compiler.engine.steps.thread_counts import SymbolicThreads, is_symbolic, level_threads
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.symbolic.evaluate import evaluate
from ogive.compiler.passes.regions.slots import CallStep, CopyStep, Slot, aligned
from ogive.config import Config
from ogive.errors import ScheduleError
from ogive.named import NamedTuple


class Launch(NamedTuple):
    """One kernel call: which of the graph's slots are its buffers, and how it is shared out.

    `tiles` is an index expression of the graph's variables where the parallel axis is symbolic.
    `fixed` has the values of the kernel's variables that are the scheduler's own.
    """

    kernel: Kernel
    slots: tuple[int, ...]
    tiles: int | UOp
    grain: int
    fixed: tuple[tuple[str, int], ...] = ()

    @property
    def variables(self) -> tuple[str, ...]:
        return self.kernel.variables

    @property
    def written(self) -> tuple[int, ...]:
        """The slots that the kernel writes to."""
        return self.slots[: self.kernel.record.writes]

    def __repr__(self) -> str:
        return f"<launch {self.kernel.name}: slots {self.slots}>"


Step = Launch | CopyStep | CallStep


class CompiledGraph:
    """Steps in order, the memory they need, and where the results are.

    `variables` has the bounds of each variable by name. Steps of equal `levels` may run side by
    side; `order` has their positions in the schedule. `offsets` say where slots lie in one block of
    memory on their device, if that is known.
    """

    def __init__(
        self,
        steps: tuple[Step, ...],
        slots: tuple[Slot, ...],
        outputs: tuple[int, ...],
        variables: dict[str, tuple[int, int]],
        levels: tuple[int, ...],
        order: tuple[int, ...],
        offsets: tuple[int, ...] | None = None,
    ) -> None:
        self.steps = steps
        self.slots = slots
        self.outputs = outputs
        self.variables = variables
        self.levels = levels
        self.order = order
        self._places = {} if offsets is None else {"arena": _arena(slots, offsets)}

    @property
    def launches(self) -> tuple[Launch, ...]:
        """The steps that are kernels."""
        return tuple([step for step in self.steps if isinstance(step, Launch)])

    @functools.cached_property
    def stored(self) -> frozenset[int]:
        """The slots of inputs that steps write to: assignments."""
        written = {slot for step in self.steps for slot in step.written}
        return frozenset(n for n in written if self.slots[n].parameter is not None)

    @functools.cached_property
    def read(self) -> frozenset[int]:
        """The slots that steps read."""
        return frozenset(
            [slot for step in self.steps for slot in step.slots if slot not in step.written]
        )

    def result_bytes(self, slot: int, nbytes: int) -> int:
        """How much memory a slot needs of which only the first `nbytes` are a result.

        A general graph has room for the greatest length there: steps that read it take it to be so
        long, and nobody else does.
        """
        return self.slots[slot].nbytes if slot in self.read else nbytes

    @functools.cached_property
    def panels(self) -> tuple[Panel, ...]:
        """The steps whose panels stay as they are while inputs do not change."""
        return find_panels(self)

    def native_plan(self, pool: Pool) -> Program:
        """A native plan of this graph; addresses and variables are filled in later."""
        return host().bind(self.native_steps(pool.threads), pool)

    def device_of(self, step: Step) -> Device:
        """The device that a step writes to, which is the one that does it."""
        return find_device(self.slots[step.slots[0]].device)

    def _check_memory(self, step: Launch) -> None:
        """Raise `ScheduleError` for a kernel that would follow addresses of another device."""
        devices = dict.fromkeys([self.slots[slot].device for slot in step.slots])
        if len(devices) > 1 and not all(find_device(name).addressable for name in devices):
            raise ScheduleError(
                f"kernel {step.kernel.name} would read memory of {' and '.join(devices)} at once "
                "(a defect of Ogive; move tensors to one device with .to() before)"
            )

    def native_steps(self, threads: int) -> list[DeviceStep]:
        """The steps as their devices do them, for a pool of so many threads."""
        device_steps: list[DeviceStep] = []
        last = -1
        worth = level_threads(self.steps, self.levels, self.slots, self.variables, threads)
        for level, step in zip(self.levels, self.steps, strict=True):
            if isinstance(step, Launch):
                self._check_memory(step)
                tiles = step.tiles if isinstance(step.tiles, int) else 0
                shared = not isinstance(step.tiles, int) or tiles > step.grain
                values = dict(step.fixed)
                arguments = [0] * len(step.slots)
                arguments += [values.get(name, 0) for name in step.variables]
                launch = KernelStep(
                    step.kernel.loaded,
                    arguments,
                    tiles,
                    step.grain,
                    worth[level],
                    parallel=shared,
                    joins=level == last,
                    whole=not self.stored.isdisjoint(step.written),
                )
                device_steps.append(self.device_of(step).launch_step(launch))
            elif isinstance(step, CopyStep):
                to, source = [self.slots[slot] for slot in step.slots]
                copied_from = find_device(source.device)
                device_steps.append(self.device_of(step).copy_step(copied_from, to.nbytes))
            else:
                from ogive.compiler.engine.steps.function_calls import calling

                addresses = [0] * len(step.slots)
                device_steps.append(HostStep(calling(step, self.slots), addresses, is_users=True))
            last = level
        return device_steps

    @functools.cached_property
    def word_slots(self) -> tuple[tuple[int, int], ...]:
        """The argument words that take an address: (position, slot)."""
        words = []
        position = 0
        for step in self.steps:
            for slot in step.slots:
                words.append((position, slot))
                position += 1
            position += _further_words(step)
        return tuple(words)

    @functools.cached_property
    def word_variables(self) -> tuple[tuple[int, str], ...]:
        """The argument words that take the value of a variable: (position, name)."""
        words = []
        position = 0
        for step in self.steps:
            position += len(step.slots)
            if isinstance(step, Launch):
                fixed = dict(step.fixed)
                for number, name in enumerate(step.variables):
                    if name not in fixed:
                        words.append((position + number, name))
            position += _further_words(step)
        return tuple(words)

    @functools.cached_property
    def symbolic_launches(self) -> tuple[tuple[int, Launch], ...]:
        """The launches whose tiles, or whose work in one, depend on a variable: (position, it)."""
        return tuple(
            [
                (position, step)
                for position, step in enumerate(self.steps)
                if isinstance(step, Launch) and is_symbolic(step)
            ]
        )

    @functools.cached_property
    def _worth(self) -> SymbolicThreads:
        return SymbolicThreads(self.symbolic_launches, self.slots, self.variables)

    @functools.cached_property
    def _left_out(self) -> dict[int, str]:
        from ogive.compiler.engine.steps.execution_levels import (
            left_out_of,  # graphs from a disk have places
        )

        return left_out_of(self.slots, self.outputs)

    @functools.cached_property
    def _lives(self) -> dict[int, Life]:
        from ogive.compiler.engine.steps.execution_levels import lives_of

        return lives_of(self.steps, self.levels, self.slots, self._left_out)

    def places(self, mode: str) -> Places:
        """Where the intermediates lie."""
        if mode not in self._places:
            self._places[mode] = place(self._lives, mode, self._devices)
        return self._places[mode]

    @functools.cached_property
    def _devices(self) -> tuple[str, ...]:
        """The device of each slot."""
        return tuple([slot.device for slot in self.slots])

    def memory(self, mode: str) -> MemoryPlan:
        """Where the intermediates lie, and what that takes."""
        return describe(self.places(mode), self._lives, self._left_out, self._devices)

    @property
    def offsets(self) -> tuple[int, ...]:
        """Where each slot lies in the one block that its device has in the default mode; -1 for
        what does not."""
        places = self.places("arena").places
        return tuple([places.get(number, (0, -1))[1] for number in range(len(self.slots))])

    def allocate(self, inputs: Sequence[Buffer], config: Config) -> list[Buffer]:
        """The memory of one run by slot, given that of the parameters."""
        places, sizes, devices = self.places(config.planner)
        new = poisoned_buffer if config.poison else Buffer
        blocks = [new(size, device) for size, device in zip(sizes, devices, strict=True)]
        buffers = []
        for number, slot in enumerate(self.slots):
            if slot.parameter is not None:
                buffers.append(inputs[slot.parameter])
            elif number in places:
                block, offset = places[number]
                buffers.append(blocks[block].view(offset, slot.nbytes))
            else:
                buffers.append(new(slot.nbytes, slot.device))
        return buffers

    def set_variables(self, native: Program, values: Mapping[str, int]) -> None:
        """Give the variables of a native plan of this graph their values."""
        for position, name in self.word_variables:
            native.words[position] = values[name]
        if self.symbolic_launches:
            for position, step in self.symbolic_launches:
                native.tiles[position] = evaluate(step.tiles, values)
            positions, worth = self._worth.at(values, native.pool_threads)
            native.threads[positions] = worth


def _further_words(step: Step) -> int:
    """How many argument words a step has behind those for its slots."""
    if isinstance(step, Launch):
        return len(step.variables)
    return 1 if isinstance(step, CopyStep) else 0  # how many bytes it copies


def _arena(slots: Sequence[Slot], offsets: Sequence[int]) -> Places:
    """The places of slots in one block for each device."""
    places: dict[int, tuple[int, int]] = {}
    ends: dict[str, int] = {}
    for number, (slot, offset) in enumerate(zip(slots, offsets, strict=True)):
        if offset >= 0:
            ends[slot.device] = max(ends.get(slot.device, 0), offset + aligned(slot.nbytes))
            places[number] = list(ends).index(slot.device), offset
    return Places(places, tuple(ends.values()), tuple(ends))


def pool_for(config: Config) -> Pool:
    """The threads that run kernels under a configuration."""
    return host().pool(config)
