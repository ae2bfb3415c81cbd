"""`python -m ogive.torch script.py args`: run an unchanged script with `ogive.torch` as `torch`."""

from __future__ import annotations

import os
import runpy
import sys

from ogive.torch.tree import install

USAGE = "usage: python -m ogive.torch [-m module | script.py] [arguments]"


def main(arguments: list[str]) -> int:
    """Run a script or a module as `python` would. Returns the exit status."""
    if not arguments or arguments[0] in ("-h", "--help") or arguments == ["-m"]:
        print(USAGE)
        return 0 if arguments and arguments[0] != "-m" else 2
    install()
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        return 0
    sys.argv = arguments
    sys.path[0] = os.path.dirname(os.path.abspath(arguments[0]))
    runpy.run_path(arguments[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
