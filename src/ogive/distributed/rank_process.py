"""`python -m ogive.distributed.rank_process FOLDER PROGRAM …`: a rank of `ogive launch`.

A file in the folder has the process id of the rank, so that the launcher sees when it is gone. MPI
is initialized before the program begins, so that the others notice a rank that fails early. Output
is flushed by lines, so that `mpiexec` can prefix them with the rank. Tracebacks begin in the
program.
"""

from __future__ import annotations

import functools
import io
import os
import runpy
import sys
from collections.abc import MutableMapping
from pathlib import Path
from types import TracebackType

from ogive.distributed.world import init

INTERRUPTED = 130


def main() -> None:
    """Run the program of the command line as Python would."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(line_buffering=True, write_through=False)
    folder, program = sys.argv[1:3]
    Path(folder, os.environ["PMI_RANK"]).write_text(str(os.getpid()), encoding="ascii")
    _describe_as_pytorch(os.environ)
    sys.excepthook = functools.partial(_show, program)  # what `init` puts there calls it
    init()
    sys.argv = sys.argv[2:]
    sys.path[0] = str(Path(program).resolve().parent)
    try:
        runpy.run_path(program, run_name="__main__")
    except KeyboardInterrupt:
        # The launcher interrupts all ranks, and does not wait for their tracebacks.
        sys.stdout.flush()
        os._exit(INTERRUPTED)
    except SystemExit as ending:
        if ending.code:
            sys.excepthook(SystemExit, ending, None)  # tells the other ranks
        raise


def _show(
    program: str, kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Print an error as Python does, without the frames that called the program."""
    if kind is SystemExit:
        return  # Python prints its argument
    while trace is not None and trace.tb_frame.f_code.co_filename != program:
        trace = trace.tb_next
    sys.__excepthook__(kind, error.with_traceback(trace), trace)  # prints the error's own trace


def _describe_as_pytorch(environment: MutableMapping[str, str]) -> None:
    """Set the variables that programs for PyTorch's own launcher read."""
    numbers = {"RANK": "PMI_RANK", "WORLD_SIZE": "PMI_SIZE", "LOCAL_RANK": "MPI_LOCALRANKID",
               "LOCAL_WORLD_SIZE": "MPI_LOCALNRANKS"}  # fmt: skip
    for name, ours in numbers.items():
        environment.setdefault(name, environment[ours])


if __name__ == "__main__":
    main()
