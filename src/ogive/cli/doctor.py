"""`ogive doctor`: what this machine is, what works on it, and which settings are in force."""

from __future__ import annotations

import dataclasses
import os
import platform
import textwrap
from collections.abc import Callable
from pathlib import Path

import numpy
from numpy.typing import NDArray

from ogive import __version__
from ogive.cli.screen import Screen, find_screen
from ogive.compiler.devices.known_devices import ABSENT, count_devices, find_device, host
from ogive.compiler.devices.protocol import HostSpeeds
from ogive.compiler.ir.device_names import FILES, GPUS, device_name
from ogive.compiler.targets.target import Target
from ogive.config import Config, Settings, settings
from ogive.errors import DeviceError, OgiveError
from ogive.folders import CACHE_VARIABLE, cache_folder, folder_bytes, folder_problem
from ogive.journal import show_bytes
from ogive.tensor.tensor import Tensor

LABEL = 12
NOTABLE = (
    "avx", "fma", "f16c", "amx", "bmi", "vnni", "neon", "sve", "sme", "dotprod", "fp16", "bf16",
    "i8mm", "fullfp16",
)  # fmt: skip
"""Prefixes of the instruction sets that matter to kernels."""


class Report:
    """Prints facts, and counts faults."""

    def __init__(self, screen: Screen) -> None:
        self.screen = screen
        self.broken = 0

    def section(self, title: str) -> None:
        """Print the title of a section."""
        self.screen.title(title)

    def fact(self, label: str, text: str) -> None:
        """Print a labelled fact, wrapped."""
        width = max(self.screen.columns - LABEL - 2, 16)
        lines = textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False) or [""]
        for number, line in enumerate(lines):
            print(f"  {label if number == 0 else '':{LABEL}}{line}")

    def fault(self, label: str, text: str) -> None:
        """Print and count a fault."""
        self.broken += 1
        self.fact(label, f"BROKEN: {text}")


def run(
    settings: Settings = settings,
    check: Callable[[Config], str | None] | None = None,
    stored: Callable[[Config], HostSpeeds | None] | None = None,
) -> int:
    """Print the report; 1 if something is broken.

    `check` returns what is wrong with the CPU, or None (default: `check_cpu`). `stored` returns the
    measured speeds of the machine, or None if there are none.
    """
    report = Report(find_screen())
    _report_versions(report)
    target = _find_target(report)
    if target is not None:
        _report_machine(report, target)
    _report_devices(report, settings, check or check_cpu)
    _report_cache(report)
    _report_speeds(report, settings, stored)
    _report_settings(report, settings)
    print()
    if report.broken:
        print(f"Found {report.broken} fault{'s' if report.broken > 1 else ''}.")
        return 1
    print("All is well.")
    return 0


def _report_versions(report: Report) -> None:
    report.section("Versions")
    report.fact("ogive", f"{__version__}, in {Path(__file__).parents[1]}")
    report.fact("Python", f"{platform.python_version()}, {platform.platform()}")
    report.fact("NumPy", numpy.__version__)
    try:
        import llvmlite
        from llvmlite import binding

        version = ".".join(map(str, binding.llvm_version_info))
        report.fact("llvmlite", f"{llvmlite.__version__}, LLVM {version}")
    except Exception as error:
        report.fault("llvmlite", f"cannot be loaded: {_first_line(error)}")


def _find_target(report: Report) -> Target | None:
    try:
        return host().confirmed_target(Config(disk_cache=False))
    except Exception as error:
        report.section("Machine")
        report.fault("target", f"LLVM cannot describe it: {_first_line(error)}")
        return None


def _report_machine(report: Report, target: Target) -> None:
    report.section("Machine")
    report.fact("processor", _processor_name() or target.cpu)
    report.fact("target", f"{target.triple}, {target.cpu}")
    report.fact("cores", f"{target.cores} of {os.cpu_count()} usable by this process")
    masked = "masked" if target.masked else "unmasked"
    report.fact(
        "vectors",
        f"{8 * target.vector_bytes} bits, {target.vector_registers} registers, {masked} access",
    )
    report.fact("features", " ".join(notable_features(target.features)) or "nothing of note")
    sizes = (target.l1_bytes, target.l2_bytes, target.l3_bytes)
    report.fact("caches", ", ".join(f"L{i} {show_bytes(n)}" for i, n in enumerate(sizes, 1)))


def notable_features(features: str) -> list[str]:
    """The instruction sets of an LLVM feature string that matter to kernels.

    >>> notable_features("+avx2,+cx8,-avx512f,+fma")
    ['avx2', 'fma']
    """
    present = [name[1:] for name in features.split(",") if name.startswith("+")]
    return sorted(name for name in present if name.startswith(NOTABLE))


def _processor_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def _report_devices(
    report: Report, settings: Settings, check: Callable[[Config], str | None]
) -> None:
    report.section("Devices")
    try:
        problem = check(settings.current())
        threads = count_threads(settings.current())
    except Exception as error:
        problem = _first_line(error)
    if problem is None:
        report.fact(host().name, "works: a kernel was compiled, run and checked")
        report.fact("threads", f"{threads} in the pool, including the calling thread")
    else:
        report.fault(host().name, problem)
    report.fact(FILES, "files, read-only (Tensor.from_file)")
    _report_gpus(report)
    report.fact("others", f"{', '.join(ABSENT)} are not supported")


def _report_gpus(report: Report) -> None:
    """Report each GPU, or why there is none."""
    for number in range(max(count_devices(GPUS), 1)):
        try:
            name = device_name(GPUS, number)
            report.fact(name, find_device(name).describe())
        except DeviceError as error:
            report.fact(name, f"not available: {_first_line(error)}")


def _compute(array: NDArray[numpy.float32], config: Config) -> NDArray[numpy.float32]:
    compiled = config.with_changes({"disk_cache": False})
    result: NDArray[numpy.float32] = (
        (Tensor(array).sqrt() * 2 + 1).sum(1).realize(config=compiled).numpy()
    )
    return result


def check_cpu(
    config: Config,
    compute: Callable[[NDArray[numpy.float32], Config], NDArray[numpy.float32]] = _compute,
) -> str | None:
    """Compile and run a small kernel. Returns what is wrong with its result, or None."""
    array = numpy.arange(1, 1008, dtype=numpy.float32).reshape(19, 53)
    result = compute(array, config)
    expected = (numpy.sqrt(array.astype(numpy.float64)) * 2 + 1).sum(1)
    if numpy.allclose(result, expected, rtol=1e-5):
        return None
    return f"a kernel gave {result[:3].tolist()}…, not {expected[:3].tolist()}…"


def count_threads(config: Config) -> int:
    """How many threads run kernels under a configuration."""
    # Imported here, so that a compiler that fails to load is reported and not raised.
    from ogive.compiler.engine.steps.compiled_graph import pool_for

    return pool_for(config).threads


def _report_speeds(
    report: Report, settings: Settings, stored: Callable[[Config], HostSpeeds | None] | None
) -> None:
    report.section("Speed")
    folder = cache_folder()
    try:
        # Opening the store would create the folder, and would repeat the report about a bad one.
        usable = folder.exists() and folder_problem(folder) is None
        speeds = (stored or host().stored_speeds)(settings.current()) if usable else None
    except OgiveError:
        speeds = None  # The section on settings reports why.
    if speeds is None:
        report.fact("measured", "not yet; run `ogive calibrate` (half a second)")
        return
    for label, text in speeds.describe():
        report.fact(label, text)


def _report_cache(report: Report) -> None:
    report.section("Cache folder")
    folder = cache_folder()
    origin = CACHE_VARIABLE if os.environ.get(CACHE_VARIABLE) else "default"
    report.fact("place", f"{folder} ({origin})")
    problem = folder_problem(folder)
    if problem is not None:
        report.fault("state", problem)
    elif folder.exists():
        report.fact("state", f"private to you, {show_bytes(folder_bytes(folder))}")
    else:
        report.fact("state", "not created yet")


def _report_settings(report: Report, settings: Settings) -> None:
    report.section("Settings")
    try:
        config = settings.current()
    except OgiveError as error:
        report.fault("environment", _first_line(error))
        return
    names = [entry.name for entry in dataclasses.fields(Config)]
    wide = max(map(len, names)) + 2
    for name in names:
        print(f"  {name:{wide}}{getattr(config, name)!r} ({settings.origin(name)})")
    for variable, hint in settings.unknown_variables():
        report.fault("environment", f"{variable} is not a setting of Ogive{hint}")


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0] or type(error).__name__
