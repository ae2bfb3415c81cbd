"""The `ogive` command."""

from __future__ import annotations

import argparse
import functools
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ogive import __version__
from ogive.cli.models.arguments import add_arguments
from ogive.config import EXACTNESS
from ogive.errors import OgiveError, nearest

USAGE_ERROR = 2
INTERRUPTED = 130


def _demo(save: str = "ogive-digits.safetensors") -> int:
    from ogive.cli.demo import run

    return run(save)


def _stages(only: str | None = None) -> int:
    from ogive.cli.stages import run

    return run(only)


def _doctor() -> int:
    from ogive.cli.doctor import run

    return run()


def _explain(program: str, arguments: Sequence[str], exactness: str) -> int:
    from ogive.cli.explain import run

    return run(program, arguments, exactness)


def _calibrate() -> int:
    from ogive.cli.calibrate import run

    return run()


def _cache(action: str = "info") -> int:
    from ogive.cli.cache import run

    return run(action)


def _run(**arguments: Any) -> int:
    from ogive.cli.models.run import run

    return run(**arguments)


def _bench(**arguments: Any) -> int:
    from ogive.cli.models.bench import bench

    return bench(**arguments)


def _compare(**arguments: Any) -> int:
    from ogive.cli.models.compare import compare

    return compare(**arguments)


def _export(**arguments: Any) -> int:
    from ogive.cli.models.export import run

    return run(**arguments)


def _launch(ranks: int, program: str, arguments: Sequence[str]) -> int:
    from ogive.cli.launch import run

    return run(ranks, program, arguments)


def _plan_scale(**arguments: Any) -> int:
    from ogive.cli.plan_scale import run

    return run(**arguments)


Command = tuple[Callable[..., int], str]
"""The function that runs a command, and its help text."""

COMMANDS: dict[str, Command] = {
    "demo": (_demo, "train a small network on handwritten digits, and watch it learn"),
    "run": (_run, "describe an ONNX model and run it"),
    "bench": (_bench, "measure an ONNX model, beside ONNX Runtime if it is installed"),
    "compare": (_compare, "compare every value in an ONNX model with ONNX Runtime's"),
    "export": (_export, "write an ONNX model as an object file for C programs"),
    "stages": (_stages, "compile one expression, and show every stage of the compiler"),
    "doctor": (_doctor, "describe this machine, what works on it, and the settings in force"),
    "launch": (_launch, "run a program as several processes (ranks) connected by MPI"),
    "plan-scale": (_plan_scale, "predict time and memory of a training step on 1 to 1024 devices"),
    "explain": (_explain, "run a program, and show what graph search finds in its graphs"),
    "calibrate": (_calibrate, "measure this machine's speed, which decides the number of threads"),
    "cache": (_cache, "show the disk cache, print its folder, or clear it"),
}
CACHE_ACTIONS = ("info", "clear", "path")


def main(
    arguments: Sequence[str] | None = None, commands: Mapping[str, Command] = COMMANDS
) -> int:
    """Run the command line; gives the exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given and not given[0].startswith("-") and given[0] not in commands:
        print(
            f"ogive: there is no command {given[0]!r}{nearest(given[0], commands)}; "
            f"the commands are {', '.join(commands)}",
            file=sys.stderr,
        )
        return USAGE_ERROR
    parser = _parser(commands)
    parsed = vars(parser.parse_args(given))
    command = parsed.pop("command")
    if command is None:
        parser.print_help()
        return 0
    return _guard(functools.partial(commands[command][0], **parsed))


def _parser(known: Mapping[str, Command]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ogive", description="A lazy tensor library with a real compiler under it."
    )
    parser.add_argument("--version", action="version", version=f"ogive {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="command")
    for name, (_, text) in known.items():
        command = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        if name == "demo":
            command.add_argument(
                "--save", metavar="PATH", default="ogive-digits.safetensors",
                help="where to put the trained model (default: %(default)s)",
            )  # fmt: skip
        if name == "stages":
            command.add_argument(
                "--pass", metavar="NAME", dest="only",
                help="show the expression before and after one pass of the compiler",
            )  # fmt: skip
        if name in ("run", "bench", "compare", "export"):
            add_arguments(name, command)
        if name == "explain":
            command.add_argument("program", help="a Python file")
            command.add_argument(
                "--exactness", choices=EXACTNESS, default="exact",
                help="what the search may change (default: %(default)s)",
            )  # fmt: skip
            command.add_argument("arguments", nargs="*", help="arguments of the program")
        if name == "launch":
            command.add_argument(
                "-n", dest="ranks", metavar="RANKS", type=int, required=True, help="how many ranks"
            )
            command.add_argument("program", help="a Python file")
            command.add_argument(
                "arguments", nargs=argparse.REMAINDER, help="arguments of the program"
            )
        if name == "plan-scale":
            from ogive.cli.plan_scale import add_arguments as add_plan_arguments

            add_plan_arguments(command)
        if name == "cache":
            command.add_argument("action", nargs="?", choices=CACHE_ACTIONS, default="info")
    return parser


def _guard(command: Callable[[], int]) -> int:
    """Run a command; an error of the user's becomes a message without a traceback."""
    try:
        status = command()
        sys.stdout.flush()
        return status
    except OgiveError as error:
        # The second line would point at our own source.
        print(f"ogive: {str(error).partition(chr(10))[0]}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader (`| head`) has gone. Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
