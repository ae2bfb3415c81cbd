"""The errors that Ogive raises on purpose, typed by cause, each with the user's own line.

User errors also derive from the built-in exception that a Python programmer expects (`ValueError`,
`TypeError`, `IndexError`, ...), so that `except ValueError` works, and from `RuntimeError` where
PyTorch raises that, so that its programs catch them. Errors of the compiler are typed by stage.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import linecache
import os
import sys
import threading
from collections.abc import Iterable, Iterator
from types import CodeType, FrameType

PACKAGE_FOLDER = os.path.dirname(os.path.abspath(__file__)) + os.sep

PASSED_THROUGH = frozenset(
    [
        contextlib.contextmanager.__code__.co_filename,
        dataclasses.replace.__code__.co_filename,
        functools.update_wrapper.__code__.co_filename,
    ]
)
"""Files of the standard library whose frames may be between two frames of Ogive."""

Origin = tuple[CodeType, int]
"""A place in the user's program: a code object and an instruction in it, resolved when shown."""


def user_origin(depth: int = 1) -> Origin | None:
    """The innermost frame of the user's program, as an `Origin`; see `at_origin`."""
    if _borrowed and (borrowed := _borrowed.get(threading.get_ident())) is not None:
        return borrowed
    frame: FrameType | None = sys._getframe(depth)
    while frame is not None:
        code = frame.f_code
        is_ours = _is_ours.get(code.co_filename)
        if is_ours is None:
            is_ours = _find_out(code.co_filename)
        if not is_ours and not _is_generated(frame):
            return code, frame.f_lasti
        frame = frame.f_back
    return None


_borrowed: dict[int, Origin] = {}
"""The origin of each thread that works for a line that the user's program has left."""


@contextlib.contextmanager
def at_origin(origin: Origin) -> Iterator[None]:
    """Within this context, this thread's work counts as done for `origin`."""
    thread = threading.get_ident()
    before = _borrowed.get(thread)
    _borrowed[thread] = origin
    try:
        yield
    finally:
        if before is None:
            _borrowed.pop(thread, None)
        else:
            _borrowed[thread] = before


_is_ours: dict[str, bool] = {}
"""A cache: whether a file is Ogive's or passed through. Every operation asks for some files."""


def _find_out(filename: str) -> bool:
    # Frozen code is Python's own, which runs programs and imports modules.
    is_ours = filename.startswith((PACKAGE_FOLDER, "<frozen ")) or filename in PASSED_THROUGH
    _is_ours[filename] = is_ours
    return is_ours


def _is_generated(frame: FrameType) -> bool:
    """Whether code was compiled from a string of ours, such as the methods of a dataclass."""
    if frame.f_code.co_filename != "<string>":
        return False
    return str(frame.f_globals.get("__name__")).startswith("ogive.")


def origin_line(origin: Origin | None) -> tuple[str, int] | None:
    """The file and line number of an origin."""
    if origin is None:
        return None
    code, instruction = origin
    line = code.co_firstlineno
    for start, end, number in code.co_lines():
        if start <= instruction < end and number is not None:
            line = number
    return code.co_filename, line


def describe_origin(origin: Origin | None) -> str:
    """The user's line as `file:line: source text`, or an empty string."""
    place = origin_line(origin)
    if place is None:
        return ""
    filename, line = place
    text = linecache.getline(filename, line).strip()
    return f"{filename}:{line}" + (f": {text}" if text else "")


def nearest(word: str, valid: Iterable[str]) -> str:
    """` (did you mean 'x'?)` for the closest valid word, or an empty string."""
    import difflib  # loaded for errors only

    close = difflib.get_close_matches(str(word), list(valid), n=1, cutoff=0.5)
    return f" (did you mean {close[0]!r}?)" if close else ""


class OgiveError(Exception):
    """Base of all errors raised by Ogive. `origin` is the line of the user's program.

    `module` is the outermost layer of a network through which it has passed, and `has_path` says
    whether its message begins with the path to the innermost one.
    """

    module: object = None
    has_path = False

    def __init__(self, message: str, origin: Origin | None = None) -> None:
        self.origin = origin if origin is not None else user_origin(2)
        place = describe_origin(self.origin)
        super().__init__(f"{message}\n  at {place}" if place else message)


def words_of(error: BaseException) -> str:
    """The words of an error, without the lines of the user's program that it quotes."""
    lines = str(error).split("\n")
    return "\n".join([line for line in lines if not line.startswith("  at ")])


class CacheWarning(UserWarning):
    """The cache folder cannot be used. Everything works, but the next process compiles again."""


class ConfigWarning(UserWarning):
    """A setting that has no effect, or another one; the message says which."""


class CaptureWarning(UserWarning):
    """A captured function uses something that cannot be watched, or that changes at every call."""


class ShapeError(OgiveError, ValueError, RuntimeError):
    """Shapes that do not fit together, or do not fit the operation."""


class AxisError(OgiveError, ValueError, IndexError, RuntimeError):
    """An axis that the tensor does not have, or that is given twice."""


class DtypeError(OgiveError, TypeError, RuntimeError):
    """An unknown dtype, or one that the operation does not take."""


class DeviceError(OgiveError, ValueError, RuntimeError):
    """An unknown device, or tensors on different devices."""


class ArgumentError(OgiveError, ValueError, RuntimeError):
    """An argument of the right type with an invalid value."""


class LinearAlgebraError(ArgumentError):
    """A matrix for which an operation is not defined: singular, or not positive definite."""


class ArgumentTypeError(OgiveError, TypeError):
    """An argument of the wrong type."""


class IndexRangeError(OgiveError, IndexError, RuntimeError):
    """An index outside its axis."""


class FileError(OgiveError, OSError):
    """A file that is missing, cannot be read, or is shorter than a tensor in it."""


class MissingFileError(FileError, FileNotFoundError):
    """A file that does not exist."""


class InterchangeError(OgiveError, BufferError):
    """Memory that cannot be shared with another library, or not in the requested way."""


class ConfigError(OgiveError, ValueError):
    """An unknown setting, or an invalid value of one."""


class VariableError(OgiveError, ValueError):
    """A symbolic variable that is unbound, bound twice, or bound outside its bounds."""


class StateError(OgiveError, ValueError, RuntimeError):
    """A state dictionary that does not fit the module or optimizer that loads it."""


class TraceError(OgiveError, RuntimeError):
    """A function that `ogive.jit` or `ogive.vmap` cannot capture, or a tensor of a past capture."""


class GradientError(OgiveError, RuntimeError):
    """A gradient that does not exist, or needs values that are gone."""


class MissingPackageError(OgiveError, ImportError):
    """An optional package that is not installed; the message says how to install it."""


class StageError(OgiveError, RuntimeError):
    """Base of the errors of one compiler stage."""


class ScheduleError(StageError):
    """The graph could not be cut into kernels."""


class OptimizeError(StageError):
    """An optimization does not apply to a kernel."""


class EmitError(StageError):
    """A kernel could not be written as LLVM IR."""


class CompileError(StageError):
    """LLVM refused the IR."""


class LoadError(StageError):
    """Object code could not be loaded."""


class AllocateError(StageError, MemoryError):
    """Memory could not be allocated."""


@contextlib.contextmanager
def needing_memory(name: str) -> Iterator[None]:
    """Within this context, a lack of memory in Python or NumPy becomes an `AllocateError`."""
    try:
        yield
    except AllocateError:
        raise
    except (MemoryError, OverflowError) as error:
        raise no_memory(name, error) from None


def no_memory(name: str, error: Exception) -> AllocateError:
    """The `AllocateError` for an error of Python or NumPy about memory or sizes."""
    reason = f": {error}" if str(error) else ""
    return AllocateError(f"{name} takes more memory than there is{reason}")


class ExecuteError(StageError):
    """A plan could not be run."""


class DistributedError(ExecuteError):
    """Ranks that do different things, have failed, or do not answer."""


class DivisionByZeroError(ExecuteError, ZeroDivisionError):
    """An integer was divided by a zero element."""


class VerifyError(StageError):
    """A graph breaks the rules of its dialect (a defect of Ogive, not of the user)."""


class RewriteCycleError(StageError):
    """Rewrite rules that undo each other (a defect of Ogive, not of the user)."""
