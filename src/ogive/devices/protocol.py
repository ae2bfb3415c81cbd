"""All that the rest of the system knows of a device.

A device has memory and may run kernels. A kind of device is a folder beside this module, with a
factory in its `device.py`, and a line in `known_devices.KINDS`; nothing outside the folder imports
from it.

    memory     `memory`, `copy_in`, `copy_out`; its addresses mean something to the device alone
    code       `target`, `compile_region`, `assemble`, `load`: from a region to an executable
    running    `launch_step`, `copy_step`; `Host.bind` makes a `Program` of steps; `record`
    speeds     `Host.speeds`, `timer`

Steps of a plan are of two sorts. A `KernelStep` is machine code at an address, which the driver of
the host calls: any number of them in a row are one foreign call. A `HostStep` is a Python function:
devices that run by themselves hand over their work in one, and need not wait for its end. Who reads
memory of theirs waits (`copy_out`), and who asks for the moment gets an `Event` (`record`).
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from ogive.devices.host_bytes import host_bytes
from ogive.errors import DeviceError
from ogive.ir.device_names import FILES, device_name
from ogive.named import NamedTuple

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ogive.config import Config
    from ogive.devices.buffer import Buffer
    from ogive.devices.exported_program import ExportedProgram
    from ogive.ir.node import UOp
    from ogive.passes.lower.kernel_signature import Signature
    from ogive.passes.pipeline.pass_runner import Watcher
    from ogive.passes.place.placement import Placement
    from ogive.targets.target import Target

ALL_THREADS = 1 << 30
"""As many threads as there are."""


# Steps and programs


class Executable(Protocol):
    """A kernel that has been loaded: machine code of the host's, or what its device makes of it."""

    @property
    def address(self) -> int:
        """Where its code begins, if the host can call it."""


class Batch(Protocol):
    """Kernel steps in a row as one call: `address` is a kernel of the host's, which is given the
    memory at `table`. It does what calling each of them would do, and reports no fault."""

    @property
    def address(self) -> int:
        """Where its code begins."""

    @property
    def table(self) -> int:
        """The address of its arguments."""


class Batcher(Protocol):
    """Makes batches of steps, as a device that has a cheaper way to do several in a row."""

    def batch(self, steps: Sequence[KernelStep], records: int, words: int) -> Batch:
        """The steps whose records lie at `records`, their words from `words` on. Tiles and words
        may change between runs."""


class KernelStep(NamedTuple):
    """A kernel over `tiles` whole tiles of its parallel axis, which the host's driver calls.

    `arguments` are its words (buffer addresses, then variables), `grain` the least number of tiles
    worth a call, `threads` the most threads worth waking, those of a group being its first step's.
    Any split of `[0, tiles)` into calls must give the same result. A step that
    `joins` may run beside the one before it, and beside those which that one joins; its number of
    tiles, and theirs, stays as it is. One that is `whole` writes over what it must not leave half
    changed. Steps in a row that have the same `batcher` are done in one call.
    """

    kernel: Executable
    arguments: Sequence[int]
    tiles: int = 1
    grain: int = 1
    threads: int = ALL_THREADS
    parallel: bool = True
    joins: bool = False
    whole: bool = False
    batcher: Batcher | None = None


LastCalls = Iterable[tuple[Any, ...]]
"""Functions written in C, each with its arguments, which are called at once."""


class HostStep(NamedTuple):
    """A step that Python does, between the native ones: `function(*arguments)`.

    What an exception leaves of one is begun again from its start. So a step that writes over what
    it must not leave half changed gives back the calls that write, as `LastCalls`: those are made
    together with the note that it is done. Of the user's functions (`is_users`) none is called to
    bring an abandoned run to its end. The function of one with `tiles` is given how many there are,
    first.
    """

    function: Callable[..., LastCalls | None]
    arguments: Sequence[int] = ()
    is_users: bool = False
    tiles: int | None = None


DeviceStep = KernelStep | HostStep


class StepFailure(Exception):
    """Raised by a host step that failed for the reason `error`; for its plan it is a fault."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


class KernelFault(Exception):
    """Raised by a host step whose kernel faulted at a site; see `Fault`."""

    def __init__(self, site: int) -> None:
        super().__init__(f"site {site}")
        self.site = site


class Fault(NamedTuple):
    """Why a plan ended early: the site number that a kernel reported, and the kernel's step.

    A host step that failed has no site but an `error`. A run that was `stopped` from outside did
    not begin its step, or may repeat it.
    """

    step: int
    site: int
    error: Exception | None = None
    stopped: bool = False


class Program(Protocol):
    """Steps that run in order, from the first to the last, at each `execute()`.

    What may change between runs is open to be written to: `words` holds the arguments of all
    steps, those of step i from `offsets[i]` on, `tiles` the tile count of each step and `threads`
    how many threads it is worth. The program keeps its kernels alive; the memory behind the
    addresses is the caller's to keep.
    """

    offsets: list[int]
    words: NDArray[Any]
    tiles: NDArray[Any]
    threads: NDArray[Any]

    @property
    def pool_threads(self) -> int:
        """How many threads there are for a step."""

    def execute(self) -> Fault | None:
        """Run all steps. Returns the fault that stopped it, if one did."""

    def execute_between(
        self, prepare: Callable[[], None], finish: Callable[[Fault | None], None]
    ) -> Fault | None:
        """`execute`, and what is to be done before and after it in one turn of this thread."""

    def rewind(self) -> None:
        """Forget how far the last run came: from now on, `outcome` tells of the next one."""

    def outcome(self, may_end: Callable[[int], bool]) -> Fault | None:
        """How the last run ended, or where an exception stopped it. No other has begun since."""


class Event(Protocol):
    """A moment at which work is done, which may be yet to come."""

    @property
    def is_over(self) -> bool:
        """Whether it has come."""

    def wait(self) -> None:
        """Wait for it."""


class _Over:
    """A moment that has come: the host is done with a step when the step returns."""

    is_over = True

    def wait(self) -> None:
        """There is nothing to wait for."""


DONE = _Over()


# Code


class CompiledKernel(NamedTuple):
    """A kernel as text in its device's language, how to call it, and how long each pass took."""

    name: str
    axes: tuple[tuple[str, int], ...]  # (placement, length), outermost first
    ir: str
    signature: Signature
    tiles: UOp  # how many tiles the parallel axis has: an index expression of variables
    work: int  # about how many operations one tile takes
    costs: tuple[int | UOp, int | UOp, int | UOp]  # of a tile: instructions, bytes read, written
    timings: dict[str, float]


# Speeds


class Work(NamedTuple):
    """The work of a step: vector instructions, and bytes that it reads and writes, each once."""

    instructions: int
    read: int
    written: int


class HostSpeeds(Protocol):
    """How fast the host is. Nothing here has a say in what is computed, only in who computes it."""

    def thread_count(self, work: Work, most: int) -> int:
        """How many threads `work` is worth, of `most`."""

    def describe(self) -> Iterator[tuple[str, str]]:
        """The speed in words: labels and texts."""


class Pool(Protocol):
    """Threads that share the steps of programs."""

    @property
    def threads(self) -> int:
        """How many run a parallel step, the caller's included."""


class KernelTimer(Protocol):
    """Times kernels, for the search."""

    @property
    def threads(self) -> int:
        """How many threads run a kernel."""

    def sweep_between(self, nbytes: int) -> None:
        """From now on, clear caches before each run of a kernel over `nbytes` that they could
        not hold."""

    def step(
        self, kernel: Executable, arguments: Sequence[int], tiles: int, grain: int
    ) -> KernelStep:
        """A run of a kernel over some of its tiles."""

    def program(self, step: KernelStep, limit: int) -> Any:
        """Something to `run`, which is cut after `limit` nanoseconds."""

    def run(self, program: Any, clock: Callable[[], int]) -> int | None:
        """The nanoseconds that a run takes; None if it was cut. Raises `KernelFault`."""


# Memory

Block = tuple[int, int, Any]
"""An aligned address, the capacity behind it, and what owns the memory."""


class Memory(Protocol):
    """Allocates and takes back blocks, from any thread, and counts what it did in bytes."""

    bytes_allocated: int
    bytes_reused: int
    bytes_held: int
    lock: Any

    def allocate(self, nbytes: int) -> Block:
        """A block of at least `nbytes`, its content undefined. Raises `AllocateError`."""

    def release(self, block: Block) -> None:
        """Take a block back. Its memory may be handed out again at once."""

    def trim(self, keep_bytes: int = 0) -> None:
        """Give free blocks back to the system until at most `keep_bytes` are held."""


# Devices


class Device(abc.ABC):
    """One device: `name` is what graphs call it, `index` tells it from others of its `kind`.

    `memory` allocates. `addressable` says whether its addresses are the host's, so that Python and
    kernels of the host may follow them. A device that `reads_whole_memory` touches all that a slot
    may hold, and runs no graph whose memory may be shorter than the graph says.
    """

    kind: str
    memory: Memory
    addressable = False
    reads_whole_memory = False

    def __init__(self, index: int) -> None:
        self.index = index
        self.name = device_name(self.kind, index)

    @abc.abstractmethod
    def copy_in(self, address: int, data: memoryview) -> None:
        """Write bytes to memory of the device."""

    @abc.abstractmethod
    def copy_out(self, address: int, into: memoryview) -> None:
        """Read bytes from memory of the device, once all work that writes them is done."""

    def copy_step(self, source: Device, nbytes: int) -> DeviceStep:
        """A step that copies into memory of this device from another's, or its own.

        Its arguments are the two addresses, destination first, and `nbytes`.
        """
        return HostStep(_copying(source, self), (0, 0, nbytes))

    def record(self) -> Event:
        """The end of all work that the device was given so far."""
        return DONE

    @abc.abstractmethod
    def target(self, config: Config) -> Target:
        """The target of its code: what that depends on, and what things cost there."""

    def target_key(self, config: Config) -> str:
        """`target(config).key`, which may be known where the target itself is not: that is all of
        it that finding compiled code takes."""
        return self.target(config).key

    def confirmed_target(self, config: Config) -> Target:
        """The target, for what is about to be compiled: `target` may go by what was noted."""
        return self.target(config)

    @abc.abstractmethod
    def compile_region(
        self,
        region: UOp,
        target: Target,
        config: Config,
        placement: Placement | None,
        watch: Watcher | None = None,
    ) -> CompiledKernel:
        """The kernel of a region as text; `watch` is told of every pass.

        Raises `OptimizeError` for a placement that fits not.
        """

    @abc.abstractmethod
    def assemble(self, text: str, target: Target) -> bytes:
        """The text of a kernel as code that can be kept. Raises `CompileError`."""

    @abc.abstractmethod
    def load(self, name: str, code: bytes) -> Executable:
        """Code made executable. Raises `LoadError` for what is damaged."""

    @abc.abstractmethod
    def launch_step(self, step: KernelStep) -> DeviceStep:
        """A launch of an executable of this device, as a step of a plan."""

    @property
    def is_native(self) -> bool:
        """Whether its launches are steps that the host's driver calls, side by side if need be."""
        return False

    def timer(self, target: Target, threads: int) -> KernelTimer:
        """The clock of its kernels. Raises `DeviceError` where nobody searches for faster ones."""
        raise DeviceError(f"kernels of {self.kind} are not searched for")

    def reserved_bytes(self) -> int:
        """How much memory it has from its system now, used or held. Raises `DeviceError` where
        nobody counts."""
        raise DeviceError(f"nobody counts what memory {self.name} has")

    def describe(self) -> str:
        """Its description in a line."""
        return self.kind

    def open_file(self, path: str, offset: int, nbytes: int) -> Buffer:
        """Bytes of a file as memory. Raises `DeviceError` where memory is not files."""
        raise DeviceError(f"{self.kind} has no files; those are on {FILES}")

    def __repr__(self) -> str:
        return f"<device {self.name}>"


class Host(Device):
    """The device that this process runs on: its driver replays the plans of all."""

    addressable = True

    @abc.abstractmethod
    def prepare(self, config: Config) -> None:
        """Begin to load what replays plans, if that can be done meanwhile."""

    @abc.abstractmethod
    def pool(self, config: Config) -> Pool:
        """The threads that run kernels under a configuration."""

    @abc.abstractmethod
    def bind(self, steps: Sequence[DeviceStep], pool: Pool) -> Program:
        """Steps made into something replayable."""

    @abc.abstractmethod
    def write_program(self, program: ExportedProgram, config: Config) -> bytes:
        """Object code of a program that runs without Python. Raises `CompileError`, and
        `DeviceError` where its object files are not known."""

    @abc.abstractmethod
    def speeds(self) -> HostSpeeds:
        """How fast it is, as far as is known now. A pool comes before."""

    @abc.abstractmethod
    def stored_speeds(self, config: Config) -> HostSpeeds | None:
        """The result of an earlier measurement, if there was one."""

    @abc.abstractmethod
    def measure_speeds(self, config: Config) -> HostSpeeds | None:
        """Measure how fast it is and keep that; None if it is too busy to tell."""

    @abc.abstractmethod
    def cores(self) -> int:
        """How many threads can run at once."""


def _copying(source: Device, destination: Device) -> Callable[..., None]:
    """A copy between devices that the host does, through memory of its own if it must."""

    def copy(to: int, origin: int, nbytes: int) -> None:
        try:
            if not nbytes:
                return
            if destination.addressable:
                source.copy_out(origin, host_bytes(to, nbytes))
            elif source.addressable:
                destination.copy_in(to, host_bytes(origin, nbytes))
            else:
                between = memoryview(bytearray(nbytes))
                source.copy_out(origin, between)
                destination.copy_in(to, between)
        except Exception as error:
            raise StepFailure(error) from None

    return copy
