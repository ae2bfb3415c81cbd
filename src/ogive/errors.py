"""Every error Ogive raises on purpose, typed by cause, each pointing at the user's own line.

User errors also derive from the built-in a Python programmer would expect (`ValueError`,
`TypeError`, `IndexError`, ...), so `except ValueError` keeps working, and from `RuntimeError` where
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
"""Files of the standard library through which Ogive calls itself."""

Origin = tuple[CodeType, int]
"""Where a user called us: a code object and the instruction in it, resolved only when shown."""


def user_origin(depth: int = 1) -> Origin | None:
    """The innermost frame of the user, as an `Origin`; see `at_origin`."""
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
"""For threads that work for a line which the user has left, that line."""


@contextlib.contextmanager
def at_origin(origin: Origin) -> Iterator[None]:
    """Inside, what this thread does is done for another line than the one that it came from."""
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
"""Whether the code of a file is Ogive's, or passed through; every operation asks for some files."""


def _find_out(filename: str) -> bool:
    # Frozen code is Python's own: what runs a program, or imports its modules.
    is_ours = filename.startswith((PACKAGE_FOLDER, "<frozen ")) or filename in PASSED_THROUGH
    _is_ours[filename] = is_ours
    return is_ours


def _is_generated(frame: FrameType) -> bool:
    """Whether code was made from a text of ours, as the methods of a dataclass are."""
    if frame.f_code.co_filename != "<string>":
        return False
    return str(frame.f_globals.get("__name__")).startswith("ogive.")


def origin_line(origin: Origin | None) -> tuple[str, int] | None:
    """The file and line number an origin stands for."""
    if origin is None:
        return None
    code, instruction = origin
    line = code.co_firstlineno
    for start, end, number in code.co_lines():
        if start <= instruction < end and number is not None:
            line = number
    return code.co_filename, line


def describe_origin(origin: Origin | None) -> str:
    """`file:line: source text` of the user's line, or an empty string."""
    place = origin_line(origin)
    if place is None:
        return ""
    filename, line = place
    text = linecache.getline(filename, line).strip()
    return f"{filename}:{line}" + (f": {text}" if text else "")


def nearest(word: str, valid: Iterable[str]) -> str:
    """` (did you mean 'x'?)` for the closest valid word, or an empty string."""
    import difflib  # only those who err wait for it

    close = difflib.get_close_matches(str(word), list(valid), n=1, cutoff=0.5)
    return f" (did you mean {close[0]!r}?)" if close else ""


class OgiveError(Exception):
    """Base of all errors raised by Ogive. `origin` is the user's line it is about.

    `module` is the outermost layer of a network that it has come through, and `has_path` says
    whether its message begins with the path to the innermost.
    """

    module: object = None
    has_path = False

    def __init__(self, message: str, origin: Origin | None = None) -> None:
        self.origin = origin if origin is not None else user_origin(2)
        place = describe_origin(self.origin)
        super().__init__(f"{message}\n  at {place}" if place else message)


class CacheWarning(UserWarning):
    """The cache folder cannot be used; everything works, and the next process compiles again."""


class ConfigWarning(UserWarning):
    """A setting that does nothing, or not what it says; the message has what is done instead."""


class CaptureWarning(UserWarning):
    """A captured function uses something that cannot be watched, or changes at every call."""


class ShapeError(OgiveError, ValueError, RuntimeError):
    """Shapes that do not fit together, or do not fit the operation."""


class AxisError(OgiveError, ValueError, IndexError, RuntimeError):
    """An axis that the tensor does not have, or that is named twice."""


class DtypeError(OgiveError, TypeError, RuntimeError):
    """An unknown dtype, or one the operation does not take."""


class DeviceError(OgiveError, ValueError, RuntimeError):
    """An unknown device, or tensors on devices that do not go together."""


class ArgumentError(OgiveError, ValueError, RuntimeError):
    """An argument of the right type with a value that makes no sense."""


class LinearAlgebraError(ArgumentError):
    """A matrix that an operation does not work for: singular, or not positive definite."""


class ArgumentTypeError(OgiveError, TypeError):
    """An argument of the wrong type."""


class IndexRangeError(OgiveError, IndexError, RuntimeError):
    """An index outside its axis."""


class FileError(OgiveError, OSError):
    """A file that is missing, cannot be read, or is shorter than what a tensor needs of it."""


class MissingFileError(FileError, FileNotFoundError):
    """There is no such file."""


class InterchangeError(OgiveError, BufferError):
    """Memory that cannot be shared with another library, or not in the way that was asked for."""


class ConfigError(OgiveError, ValueError):
    """An unknown setting or a value it does not take."""


class VariableError(OgiveError, ValueError):
    """A symbolic variable that is unbound, bound twice, or bound outside its bounds."""


class StateError(OgiveError, ValueError, RuntimeError):
    """A state dictionary that does not fit the module or optimizer it is loaded into."""


class TraceError(OgiveError, RuntimeError):
    """A function that `ogive.jit` or `ogive.vmap` cannot capture, or a tensor left by a capture."""


class GradientError(OgiveError, RuntimeError):
    """A gradient that does not exist, or needs values that are gone."""


class MissingPackageError(OgiveError, ImportError):
    """A package that only this needs is not installed; the message says how to install it."""


class StageError(OgiveError, RuntimeError):
    """Base of the errors of one compiler stage."""


class ScheduleError(StageError):
    """The graph could not be cut into kernels."""


class OptimizeError(StageError):
    """An optimization does not apply to the kernel it was asked for."""


class EmitError(StageError):
    """A kernel could not be written as LLVM IR."""


class CompileError(StageError):
    """LLVM refused the IR it was given."""


class LoadError(StageError):
    """Object code could not be loaded."""


class AllocateError(StageError, MemoryError):
    """Memory could not be had."""


@contextlib.contextmanager
def needing_memory(name: str) -> Iterator[None]:
    """Say what could not be done where Python or NumPy lack memory: an `AllocateError`."""
    try:
        yield
    except AllocateError:
        raise
    except (MemoryError, OverflowError) as error:
        raise no_memory(name, error) from None


def no_memory(name: str, error: Exception) -> AllocateError:
    """The error to raise where Python or NumPy raise that there is no memory, or no such size."""
    reason = f": {error}" if str(error) else ""
    return AllocateError(f"{name} takes more memory than there is{reason}")


class ExecuteError(StageError):
    """A plan could not be run."""


class DistributedError(ExecuteError):
    """Ranks that do not do the same, have failed, or do not answer."""


class DivisionByZeroError(ExecuteError, ZeroDivisionError):
    """An integer was divided by a zero element."""


class VerifyError(StageError):
    """A graph breaks the rules of its dialect (a defect of Ogive, not of the user)."""


class RewriteCycleError(StageError):
    """Rewrite rules that undo each other (a defect of Ogive, not of the user)."""
