"""Options of the whole suite."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.of_the_cpu import why_of_the_cpu

# The same draws in every run, so that a red one is somebody's change; the profile "new draws" draws
# anew each time (HYPOTHESIS_PROFILE). No test fails for how long it takes, on a busy machine least.
for profile, is_same in (("same draws", True), ("new draws", False)):
    settings.register_profile(
        profile,
        derandomize=is_same,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same draws"))

# PyTorch and NumPy compute what is expected on one thread: the suite's processes fill the cores,
# and teams of threads that wait for a core spin meanwhile.
os.environ.setdefault("OMP_NUM_THREADS", "1")

GOLDENS = Path(__file__).with_name("goldens")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-goldens",
        action="store_true",
        help="write what the tests find into tests/goldens instead of comparing",
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out what is of the CPU alone where `OGIVE_DEVICE` names another device."""
    if os.environ.get("OGIVE_DEVICE", "CPU").split(":")[0] == "CPU":
        return
    for item in items:
        why = why_of_the_cpu(item.nodeid)
        if why is not None:
            item.add_marker(pytest.mark.skip(reason=why))


class Golden:
    """Compares text with a file of `tests/goldens`."""

    def __init__(self, update: bool) -> None:
        self.update = update

    def check(self, name: str, text: str) -> None:
        path = GOLDENS / name
        if self.update:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
            return
        assert path.exists(), f"no {path.name}: run pytest with --update-goldens and look at it"
        assert text == path.read_text(), f"{path.name} has changed; --update-goldens if it should"


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    return Golden(bool(request.config.getoption("--update-goldens")))


@pytest.fixture(scope="session", autouse=True)
def rare_collections() -> None:
    """What was imported stays, and graphs that are compiled have no cycles: the collector took a
    sixth of the time to go through them."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 100)


@pytest.fixture(scope="session", autouse=True)
def graphs_grow_under_their_lock() -> None:
    """Whoever makes a node of a tensor graph holds `graph_lock`, in every test."""
    from ogive.compiler.live import registry

    registry.require_lock(True)


@pytest.fixture(scope="session", autouse=True)
def ctrl_c_interrupts() -> Iterator[None]:
    """Ctrl-C raises `KeyboardInterrupt`, here and in the processes that tests start, also where the
    suite was started with the signal ignored, as in the background of a shell."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session", autouse=True)
def cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cache folder of the suite's own, so that it neither reads nor fills the user's.

    The sources are taken to stay the same: to ask for the state of each of them took as long as a
    tenth of a compilation, and somebody may be editing them while the suite runs.
    """
    from ogive.compiler.store.disk_cache import disk_caches
    from tests.compiler.store.sources import SameSources

    folder = tmp_path_factory.mktemp("cache")
    before = os.environ.get("OGIVE_CACHE_DIR")
    os.environ["OGIVE_CACHE_DIR"] = str(folder)
    with disk_caches.seen_by(SameSources(b"the same all through")):
        yield folder
    if before is None:
        del os.environ["OGIVE_CACHE_DIR"]
    else:
        os.environ["OGIVE_CACHE_DIR"] = before


@pytest.fixture(scope="session", autouse=True)
def unmeasured_machine() -> Iterator[None]:
    """The machine is measured by the tests of that alone: it compiles, which others count."""
    from ogive.compiler.devices.cpu.machine_speeds import machine_speeds

    before, machine_speeds.jobs_before = machine_speeds.jobs_before, 1 << 60
    yield
    machine_speeds.jobs_before = before


@pytest.fixture(scope="session", autouse=True)
def checked_accessors() -> None:
    """A node that is asked for a source which its op does not have is an error."""
    from ogive.compiler.ir.node import UOp
    from ogive.compiler.ir.node_parts.accessors import check_accessors

    check_accessors(UOp)


PYTORCH_TESTS = (
    "tests/torch/",
    "tests/everyday/",
    "tests/programs/",
    "tests/eager/",
    "tests/test_line_programs.py",
    "tests/docs/test_docstrings.py::test_the_examples_of_the_module_are_right[ogive.torch",
)
"""Where `ogive.torch` is tested."""


def speak_for(nodeid: str) -> None:
    """Print, and have methods, as the namespace that is tested, whichever were imported before."""
    if "ogive.torch" not in sys.modules:
        return
    from ogive.torch.texts.speaking import speak_ogive, speak_pytorch

    (speak_pytorch if nodeid.startswith(PYTORCH_TESTS) else speak_ogive)()


def pytest_collectstart(collector: pytest.Collector) -> None:
    """A module may ask at its import which methods there are."""
    speak_for(collector.nodeid)


@pytest.fixture(autouse=True)
def texts_of_the_namespace(request: pytest.FixtureRequest) -> None:
    speak_for(request.node.nodeid)


@pytest.fixture
def fixed_sizes() -> Iterator[None]:
    """Every size has kernels of its own. Those for all sizes, which an earlier test may have left,
    add up in another order."""
    import ogive

    ogive.configure(generalize=False)
    yield
    ogive.configure(generalize=True)


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A cache folder for one test alone."""
    from ogive.compiler.store.disk_cache import disk_caches
    from ogive.compiler.store.open_stores import open_stores
    from tests.compiler.store.sources import SameSources

    place = str(tmp_path / "cache")
    monkeypatch.setenv("OGIVE_CACHE_DIR", place)
    with disk_caches.seen_by(SameSources(b"the same all through")):
        yield place
    open_stores.store_in(place).close()
