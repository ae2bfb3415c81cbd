"""Arguments of the commands for models."""

from __future__ import annotations

import argparse


def add_arguments(name: str, command: argparse.ArgumentParser) -> None:
    """Add the arguments of `run`, `bench`, `compare` or `export`."""
    command.add_argument("model", help="an ONNX file")
    command.add_argument(
        "--input", metavar="NAME=FILE", action="append", default=[], dest="given",
        help="an input: a .npy file, or a picture for one that takes pictures; others are random",
    )  # fmt: skip
    command.add_argument(
        "--batch", type=int, default=1, metavar="N", help="the length of first axes that may change"
    )
    command.add_argument(
        "--size", metavar="NAME=N", action="append", default=[], dest="sizes",
        help="the length of an axis that may change, by its name",
    )  # fmt: skip
    if name == "export":
        command.add_argument(
            "--output", metavar="FILE",
            help="the object file (default: the model's name, with .o); its header lies beside it",
        )  # fmt: skip
        command.add_argument(
            "--cpu", metavar="LEVEL",
            help="processors that run the code: x86-64-v3 or x86-64-v4 (default: like this one)",
        )  # fmt: skip
        return
    command.add_argument(
        "--threads", type=int, default=0, metavar="N", help="threads (default: all cores)"
    )
    if name == "run":
        command.add_argument(
            "--output", metavar="FILE",
            help="where to put the results: .npy for the first, .npz for all by name",
        )  # fmt: skip
        command.add_argument(
            "--profile", action="store_true", help="say where the time goes, by kernel and operator"
        )
    elif name == "bench":
        command.add_argument(
            "--seconds", type=float, default=3.0, metavar="S", help="how long to measure each"
        )
    else:
        command.add_argument(
            "--tolerance", type=float, default=1e-3, metavar="T",
            help="a difference, beside the largest number of a value, that counts as one",
        )  # fmt: skip
