"""The device protocol: all that the rest of the system knows about a device.

A device has memory and may run kernels. A kind of device is a folder beside this module, with a
factory in its `device.py`, and a line in `known_devices.KINDS`; nothing outside the folder imports
from it.

    memory     `memory`, `copy_in`, `copy_out`; its addresses mean something to the device alone
    code       `target`, `compile_region`, `assemble`, `load`: from a region to an executable
    running    `launch_step`, `copy_step`; `Host.bind` makes a `Program` of steps; `record`
    speeds     `Host.speeds`, `timer`

There are two kinds of steps in a plan. A `KernelStep` is machine code at an address, which the
host's driver calls; any number of them in a row are one foreign call. A `HostStep` is a Python
function. Asynchronous devices submit their work in one, and need not wait for its end. Reading
their memory waits (`copy_out`), and `record` gives an `Event` for the end of the work.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from ogive.compiler.devices.host_bytes import host_bytes
from ogive.compiler.ir.device_names import FILES, device_name
from ogive.errors import DeviceError
from ogive.named import NamedTuple

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ogive.compiler.devices.buffer import Buffer
    from ogive.compiler.devices.exported_program import ExportedProgram
    from ogive.compiler.ir.node import UOp
    from ogive.compiler.passes.lower.kernel_signature import Signature
    from ogive.compiler.passes.pipeline.pass_runner import Watcher
    from ogive.compiler.passes.place.placement import Placement
    from ogive.compiler.targets.target import Target
    from ogive.config import Config

ALL_THREADS = 1 << 30
"""A thread limit that stands for no limit."""


# Steps and programs


class Executable(Protocol):
    """A loaded kernel: machine code for the host, or the device's own representation."""

    @property
    def address(self) -> int:
        """The address of its code, if the host can call it."""


class Batch(Protocol):
    """Kernel steps in a row as one call.

    `address` is a kernel of the host that takes the memory at `table`. It does the work of all the
    steps, and reports no fault.
    """

    @property
    def address(self) -> int:
        """The address of its code."""

    @property
    def table(self) -> int:
        """The address of its arguments."""


class Batcher(Protocol):
    """Makes batches of steps, for a device that has a cheaper way to run several in a row."""

    def batch(self, steps: Sequence[KernelStep], records: int, words: int) -> Batch:
        """A batch of the steps whose records are at `records` and whose words start at `words`.

        Tiles and words may change between runs.
        """


class KernelStep(NamedTuple):
    """A kernel over `tiles` tiles of its parallel axis, which the host's driver calls.

    `arguments` are its words (buffer addresses, then variables), `grain` the least number of tiles
    worth a call, `threads` the most threads worth waking; a group has those of its first step.
    Any split of `[0, tiles)` into calls must give the same result. A step that `joins` may run
    concurrently with the one before it, and with those that that one joins; their numbers of tiles
    never change. A step that is `whole` overwrites memory that must not be left half changed. Steps
    in a row with the same `batcher` are one call.
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
"""Functions written in C, each with its arguments, called without an interruption between them."""


class HostStep(NamedTuple):
    """A step that is a Python function, between native ones: `function(*arguments)`.

    After an exception, a step starts again from its beginning. So a step that overwrites memory
    that must not be left half changed returns the calls that write, as `LastCalls`; these are made
    together with the note that the step is done. A function of the user (`is_users`) is never
    called to finish an abandoned run. If the step has `tiles`, their number is the first argument.
    """

    function: Callable[..., LastCalls | None]
    arguments: Sequence[int] = ()
    is_users: bool = False
    tiles: int | None = None


DeviceStep = KernelStep | HostStep


class StepFailure(Exception):
    """Raised by a host step that failed with `error`; its plan reports it as a fault."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


class KernelFault(Exception):
    """Raised by a host step whose kernel faulted at a site; see `Fault`."""

    def __init__(self, site: int) -> None:
        super().__init__(f"site {site}")
        self.site = site


class Fault(NamedTuple):
    """Why a plan ended early: the site that a kernel reported, and the step of the kernel.

    A host step that failed has an `error` instead of a site. If the run was `stopped` from outside,
    the step has not begun, or may be repeated.
    """

    step: int
    site: int
    error: Exception | None = None
    stopped: bool = False


class Program(Protocol):
    """Steps that each `execute()` runs in order.

    What may change between runs can be written: `words` holds the arguments of all steps, those of
    step i from `offsets[i]` on, `tiles` the tile count of each step, and `threads` the number of
    threads it is worth. The program keeps its kernels alive; the caller keeps the memory at the
    addresses alive.
    """

    offsets: list[int]
    words: NDArray[Any]
    tiles: NDArray[Any]
    threads: NDArray[Any]

    @property
    def pool_threads(self) -> int:
        """The number of threads for a step."""

    def execute(self) -> Fault | None:
        """Run all steps. Returns the fault that stopped the run, or None."""

    def execute_between(
        self, prepare: Callable[[], None], finish: Callable[[Fault | None], None]
    ) -> Fault | None:
        """`execute` between `prepare` and `finish`, all without a run of another thread between."""

    def rewind(self) -> None:
        """Forget the progress of the last run. From now on, `outcome` is about the next one."""

    def outcome(self, may_end: Callable[[int], bool]) -> Fault | None:
        """How the last run ended, or where an exception stopped it. No other has begun since."""


class Event(Protocol):
    """The moment at which some work is done, which may be in the future."""

    @property
    def is_over(self) -> bool:
        """Whether the work is done."""

    def wait(self) -> None:
        """Wait until the work is done."""


class _Over:
    """The event of work that is done: a step of the host is done when it returns."""

    is_over = True

    def wait(self) -> None:
        """Return at once."""


DONE = _Over()


# Code


class CompiledKernel(NamedTuple):
    """A kernel as text in its device's language, how to call it, and the time of each pass."""

    name: str
    axes: tuple[tuple[str, int], ...]  # (placement, length), outermost first
    ir: str
    signature: Signature
    tiles: UOp  # the number of tiles of the parallel axis: an index expression of variables
    work: int  # the estimated operations of one tile
    costs: tuple[int | UOp, int | UOp, int | UOp]  # of a tile: instructions, bytes read, written
    timings: dict[str, float]


# Speeds


class Work(NamedTuple):
    """The work of a step: vector instructions, and the distinct bytes that it reads and writes."""

    instructions: int
    read: int
    written: int


class HostSpeeds(Protocol):
    """The speed of the host. It decides only which threads compute, never the results."""

    def thread_count(self, work: Work, most: int) -> int:
        """The number of threads, up to `most`, that `work` is worth."""

    def describe(self) -> Iterator[tuple[str, str]]:
        """The speed in words, as pairs of a label and a text."""


class Pool(Protocol):
    """The threads that share the steps of programs."""

    @property
    def threads(self) -> int:
        """The number of threads that run a parallel step, the caller included."""


class KernelTimer(Protocol):
    """Times kernels for beam search."""

    @property
    def threads(self) -> int:
        """The number of threads that run a kernel."""

    def sweep_between(self, nbytes: int) -> None:
        """From now on, clear the caches before each run, if they cannot hold `nbytes`."""

    def step(
        self, kernel: Executable, arguments: Sequence[int], tiles: int, grain: int
    ) -> KernelStep:
        """A run of a kernel over some of its tiles."""

    def program(self, step: KernelStep, limit: int) -> Any:
        """A program for `run` of one step, which is cut short after `limit` nanoseconds."""

    def run(self, program: Any, clock: Callable[[], int]) -> int | None:
        """The nanoseconds of a run; None if it was cut short. Raises `KernelFault`."""


# Memory

Block = tuple[int, int, Any]
"""An aligned address, the capacity from there on, and the object that owns the memory."""


class Memory(Protocol):
    """Allocates and releases blocks, from any thread, and counts bytes."""

    bytes_allocated: int
    bytes_reused: int
    bytes_held: int
    lock: Any

    def allocate(self, nbytes: int) -> Block:
        """A block of at least `nbytes`, with undefined content. Raises `AllocateError`."""

    def release(self, block: Block) -> None:
        """Release a block. Its memory may be used again at once."""

    def trim(self, keep_bytes: int = 0) -> None:
        """Return free blocks to the system until at most `keep_bytes` are held."""


# Devices


class Device(abc.ABC):
    """One device. `name` is its name in graphs, `index` its number among those of its `kind`.

    `memory` allocates. `addressable` says whether its addresses are those of the host, so that
    Python and kernels of the host may access them. A device that `reads_whole_memory` may read all
    of a slot, so it runs no graph whose memory may be shorter than its slots.
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
        """Read bytes from memory of the device, after all work that writes them is done."""

    def copy_step(self, source: Device, nbytes: int) -> DeviceStep:
        """A step that copies to memory of this device from memory of any device.

        Its arguments are the two addresses, destination first, and `nbytes`.
        """
        return HostStep(_copying(source, self), (0, 0, nbytes))

    def record(self) -> Event:
        """The end of all work that was submitted to the device so far."""
        return DONE

    @abc.abstractmethod
    def target(self, config: Config) -> Target:
        """The target of its code: its abilities and costs."""

    def target_key(self, config: Config) -> str:
        """`target(config).key`, which may be known where the target itself is not: that is all of
        it that finding compiled code takes."""
        return self.target(config).key

    def confirmed_target(self, config: Config) -> Target:
        """The target for code that will be compiled now. `target` may rely on a stored result."""
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
        """The kernel of a region as text. `watch` is called after every pass.

        Raises `OptimizeError` for a placement that does not fit.
        """

    @abc.abstractmethod
    def assemble(self, text: str, target: Target) -> bytes:
        """The text of a kernel as code that can be stored. Raises `CompileError`."""

    @abc.abstractmethod
    def load(self, name: str, code: bytes) -> Executable:
        """Code made executable. Raises `LoadError` for damaged code."""

    @abc.abstractmethod
    def launch_step(self, step: KernelStep) -> DeviceStep:
        """The launch of an executable of this device as a step of a plan."""

    @property
    def is_native(self) -> bool:
        """Whether its launches are kernel steps that the host's driver calls, concurrently too."""
        return False

    def timer(self, target: Target, threads: int) -> KernelTimer:
        """The timer of its kernels. Raises `DeviceError` if there is no search for this kind."""
        raise DeviceError(f"kernels of {self.kind} are not searched for")

    def reserved_bytes(self) -> int:
        """The bytes that it has from the system now, used or held.

        Raises `DeviceError` if they are not counted.
        """
        raise DeviceError(f"nobody counts what memory {self.name} has")

    def describe(self) -> str:
        """A description in one line."""
        return self.kind

    def open_file(self, path: str, offset: int, nbytes: int) -> Buffer:
        """Bytes of a file as memory. Raises `DeviceError` unless this device's memory is files."""
        raise DeviceError(f"{self.kind} has no files; those are on {FILES}")

    def __repr__(self) -> str:
        return f"<device {self.name}>"


class Host(Device):
    """The device that this process runs on. Its driver replays the plans of all devices."""

    addressable = True

    @abc.abstractmethod
    def prepare(self, config: Config) -> None:
        """Begin to load the driver in the background, if possible."""

    @abc.abstractmethod
    def pool(self, config: Config) -> Pool:
        """The threads that run kernels under a configuration."""

    @abc.abstractmethod
    def bind(self, steps: Sequence[DeviceStep], pool: Pool) -> Program:
        """A program of these steps, which can be replayed."""

    @abc.abstractmethod
    def write_program(self, program: ExportedProgram, config: Config) -> bytes:
        """Object code of a program that runs without Python. Raises `CompileError`, and
        `DeviceError` where its object files are not known."""

    @abc.abstractmethod
    def speeds(self) -> HostSpeeds:
        """Its speed, as far as it is known now. Call `pool` before."""

    @abc.abstractmethod
    def stored_speeds(self, config: Config) -> HostSpeeds | None:
        """The result of an earlier measurement, or None."""

    @abc.abstractmethod
    def measure_speeds(self, config: Config) -> HostSpeeds | None:
        """Measure its speed and store it; None if the machine is too busy."""

    @abc.abstractmethod
    def cores(self) -> int:
        """The number of threads that can run at once."""


def _copying(source: Device, destination: Device) -> Callable[..., None]:
    """A copy between devices by the host, through memory of its own if necessary."""

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
