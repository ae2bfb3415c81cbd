"""Imports follow the pipeline's arrows and never turn back; `import ogive` stays light."""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path

import ogive
from tests.new_process import output_of

PACKAGE = Path(ogive.__file__).parent

ALLOWED: dict[str, tuple[str, ...]] = {
    # Under the pipeline
    "errors": (),
    "after_fork": (),
    "at_once": (),
    "compiler": (),
    "digest": (),
    "named": (),
    "config": ("targets.costs", "errors", "named"),
    "folders": (),
    "journal": ("config",),
    # The language, and what of it is alive in this process
    "ir": ("digest", "errors", "named"),
    "live": ("ir", "at_once", "errors", "named"),
    # What a device is like, the passes that compile for it, the devices themselves
    "targets": ("ir", "digest", "named"),
    "search.graph": ("targets", "ir", "config", "named"),
    "passes": ("search.graph", "targets", "ir", "journal", "config", "errors", "named"),
    "devices": (
        "store", "passes", "targets", "ir", "after_fork", "at_once", "config", "digest", "errors",
        "folders", "named",
    ),
    "counters": ("devices.known_devices", "after_fork"),
    "search": (
        "store", "passes", "devices", "targets", "ir", "journal", "config", "errors", "named",
    ),
    # Over them: what outlives the process, and what runs
    "store": (
        "passes.regions.slots", "targets", "ir", "digest", "folders", "config", "errors", "named",
    ),
    "engine": (
        "search", "store", "passes", "devices", "targets", "live", "ir", "after_fork", "at_once",
        "counters", "digest", "journal", "config", "errors", "named",
    ),
    "compat.methods": ("ir", "errors"),
    "tensor": ("compat.methods", "devices", "live", "ir", "at_once", "config", "errors", "named"),
    "jit": (
        "engine", "store", "tensor", "passes.capture.normalize", "devices", "live", "ir", "at_once",
        "journal", "config", "errors", "named",
    ),
    "io": ("tensor", "live", "ir", "errors", "named"),
    "random": ("compat.methods", "tensor", "live", "ir", "errors"),
    "data": ("random", "tensor", "ir", "errors"),
    "linalg": ("tensor",),
    "autograd": ("jit", "compat.methods", "tensor", "live", "ir", "errors"),
    "compat": ("compat.methods", "tensor", "live", "ir", "errors", "named"),
    "fft": ("compat.methods", "tensor", "live", "ir", "errors"),
    "masked": ("tensor", "live", "ir", "errors"),
    "signal": ("fft", "tensor", "live", "ir", "errors", "named"),
    "special": ("tensor", "live", "ir", "errors"),
    "nn": ("random", "autograd.mode", "tensor", "live", "ir", "errors", "named"),
    "eager": (
        "optim", "nn", "random", "autograd", "fft", "jit.tracing.watch", "tensor", "devices",
        "live", "ir", "at_once", "journal", "config", "errors",
    ),
    "optim": ("nn", "autograd", "jit", "tensor", "live", "ir", "errors", "named"),
    "amp": ("optim", "autograd", "jit.tracing.watch", "tensor", "live", "ir", "errors"),
    "distributions": (
        "autograd", "jit.tracing.watch", "linalg", "nn", "random", "special", "tensor", "errors",
    ),
    "onnx": (
        "autograd", "deployment", "random", "io", "nn", "jit", "engine", "tensor", "fft", "live",
        "ir", "config", "digest", "journal", "errors", "named",
    ),
    "distributed": (
        "autograd", "data", "optim", "nn", "random", "jit.tracing.watch", "tensor", "devices",
        "live", "ir", "config", "errors", "named",
    ),
    "deployment": (
        "io", "jit", "engine", "passes.regions.slots", "tensor", "devices", "live", "ir", "config",
        "errors", "named",
    ),
    "cuda": ("devices.known_devices", "devices.protocol", "ir.device_names"),
    "torch": (
        "", "amp", "autograd", "compat", "cuda", "data", "distributed", "distributions", "eager",
        "fft", "io", "linalg", "nn", "onnx", "optim", "random", "signal", "special", "tensor",
        "live", "ir", "config", "errors", "named",
    ),
    "": (  # the package itself
        "amp", "autograd", "cuda", "compat", "deployment", "distributed", "distributions", "fft",
        "data", "linalg", "masked", "nn", "onnx", "optim", "random", "signal", "special", "io",
        "jit", "tensor", "ir", "counters", "config", "errors",
    ),
    "cli": (
        "", "distributed", "onnx", "optim", "nn", "data", "io", "jit", "tensor", "engine", "store",
        "passes", "devices", "targets", "named", "ir", "journal", "config", "folders", "errors",
    ),
    "__main__": ("cli",),
}  # fmt: skip
"""What a part of the package may import besides itself: a whole part, or one module of it."""

INSIDE_FUNCTIONS = {
    ("tensor.values.evaluation", "engine"),  # capture must not load the compiler
    ("tensor.values.python_values", "engine"),
    ("tensor.values.sharding", "engine"),
    ("tensor.creation.sampling", "random"),  # draws are made of tensors, which have them as methods
    ("tensor.creation.sampling", "random.discrete"),
    ("tensor.values.interchange", ""),  # a tensor's namespace is the package
    ("tensor.values.interchange", "compat.numpy_functions"),
    ("tensor.gradients.differentiation", "autograd.backward"),  # likewise their gradients
    ("tensor.gradients.differentiation", "autograd.tensor_gradients"),  # or those of some inputs
    ("tensor.gradients.differentiation", "tensor.memory.data_attribute"),  # a kind of tensor itself
    ("tensor.linear_algebra.host_matrices", "autograd.custom"),
    ("ir.node", "ir.printer"),  # nodes print themselves; the printer knows nodes
}
"""Imports of ours that run only when a function is called and that `ALLOWED` or order forbids."""

FOR_TYPES_ONLY = {
    ("compat.methods.tensor_types", "tensor.tensor"),
    ("engine.faults", "tensor.tensor"),
    ("engine.plan", "tensor.tensor"),
    ("engine.realization", "tensor.tensor"),
    ("engine.realize", "tensor.tensor"),
    ("engine.record_passes", "tensor.tensor"),
    ("engine.repeated_assignments", "tensor.tensor"),
    ("tensor.neural.attention_gradients", "targets.graph_costs"),
    ("tensor.values.evaluation", "engine"),
}
"""Imports under `TYPE_CHECKING` that `ALLOWED` forbids; they never run."""

@dataclass(frozen=True)
class Import:
    """`user` imports `used` (names below `ogive`, "" for the package itself)."""

    user: str
    used: str
    inside_function: bool
    for_types: bool


def module_names() -> dict[str, Path]:
    """Every module of the package by its name below `ogive`, or below `ogive.compiler`."""
    names = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = list(path.relative_to(PACKAGE).with_suffix("").parts)
        if parts[-1] == "__init__":
            parts.pop()
        names[_short(".".join(parts))] = path
    return names


def _short(name: str) -> str:
    return name.removeprefix("compiler.")


MODULES = module_names()


def statements(
    body: list[ast.stmt], inside: bool = False, types: bool = False
) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool, bool]]:
    """All import statements, with whether they are inside a function and for types only."""
    for statement in body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            yield statement, inside, types
            continue
        is_function = isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef)
        is_guard = isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.dump(statement.test)
        for name in ("body", "orelse", "finalbody"):
            below = getattr(statement, name, [])
            guarded = types or (is_guard and name == "body")
            yield from statements(below, inside or is_function, guarded)
        for handler in getattr(statement, "handlers", []):
            yield from statements(handler.body, inside or is_function, types)


def imports_of(name: str) -> list[Import]:
    """What a module imports from the package, module by module."""
    found = []
    tree = ast.parse(MODULES[name].read_text())
    for statement, inside, types in statements(tree.body):
        for used in _targets(statement):
            if used == "ogive" or used.startswith("ogive."):
                used = _short(used[len("ogive.") :])
                found.append(Import(name, used, inside, types))
    found += [Import(name, used, inside_function=True, for_types=False) for used in _passes(tree)]
    return found


def _passes(tree: ast.Module) -> Iterator[str]:
    """The modules of the passes of a table, which are loaded when these are first run."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Pass":
            match node.args:
                case [ast.Constant(value=str(name)), _, _, ast.Constant(value=str(folder)), *_]:
                    yield f"{folder.replace('/', '.')}.{name}"


def _targets(statement: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(statement, ast.Import):
        return [alias.name for alias in statement.names]
    assert statement.level == 0, "relative imports hide where they lead"
    module = statement.module or ""
    submodules = [
        f"{module}.{alias.name}"
        for alias in statement.names
        if _short(f"{module}.{alias.name}".removeprefix("ogive.")) in MODULES
    ]
    # `from ogive import errors` names a module, `from ogive.config import Config` does not.
    return submodules + ([module] if len(submodules) < len(statement.names) else [])


EVERY = [entry for name in MODULES for entry in imports_of(name)]


def part_of(name: str) -> str:
    """The part that a module belongs to: the longest entry of the table that it lies under."""
    return name if name in ALLOWED or "." not in name else part_of(name.rpartition(".")[0])


def is_package(name: str) -> bool:
    """Whether a name below `ogive` is a folder of modules. Bytecode of a former one is none."""
    return (PACKAGE / name / "__init__.py").exists()


def is_allowed(entry: Import) -> bool:
    part = part_of(entry.user)
    if part_of(entry.used) == part:
        return True
    return any(
        entry.used == permitted or entry.used.startswith(f"{permitted}.")
        for permitted in ALLOWED[part]
    )


def show(entries: list[Import]) -> str:
    return "\n".join(f"ogive.{entry.user} imports ogive.{entry.used}" for entry in entries)


def test_every_part_of_the_package_has_its_place_in_the_table() -> None:
    assert {part_of(name) for name in MODULES} == set(ALLOWED)


def test_the_table_itself_has_no_circle() -> None:
    graph = {part: {part_of(used) for used in uses} for part, uses in ALLOWED.items()}
    list(TopologicalSorter(graph).static_order())


def test_imports_follow_the_arrows() -> None:
    wrong = [
        entry
        for entry in EVERY
        if not is_allowed(entry) and not entry.for_types and not entry.inside_function
    ]
    assert not wrong, show(wrong)


COMPILER = {path.stem for path in (PACKAGE / "compiler").iterdir()} | {"compiler"}
SURFACE = {"compat", "eager", "torch"}
OVER_ALL = {"", "cli", "__main__"}


def test_the_compiler_knows_no_tensors_and_the_library_no_surface() -> None:
    names = {part: {used.partition(".")[0] for used in uses} for part, uses in ALLOWED.items()}
    computing = {part for part, used in names.items() if "tensor" in used} | {"tensor"}
    for part, used in names.items():
        top = part.partition(".")[0]
        if top in COMPILER:
            assert used.isdisjoint(computing | SURFACE), part
        elif top not in SURFACE | OVER_ALL:
            allowed = {used for used in ALLOWED[part] if used.partition(".")[0] in SURFACE}
            assert allowed <= {"compat.methods"}, part


def test_imports_inside_functions_go_only_where_listed() -> None:
    wrong = [
        entry
        for entry in EVERY
        if entry.inside_function
        and not is_allowed(entry)
        and (entry.user, entry.used) not in INSIDE_FUNCTIONS
    ]
    assert not wrong, show(wrong)


def test_imports_for_types_go_only_where_listed() -> None:
    wrong = [
        entry
        for entry in EVERY
        if entry.for_types
        and not is_allowed(entry)
        and (entry.user, entry.used) not in FOR_TYPES_ONLY
    ]
    assert not wrong, show(wrong)


DEVICES = {
    f"devices.{path.parent.name}" for path in (PACKAGE / "compiler/devices").glob("*/device.py")
}
"""The folders of kinds of devices."""


def test_devices_are_reached_through_their_protocol_alone() -> None:
    assert {"devices.cpu", "devices.disk"} <= DEVICES
    wrong = [
        entry
        for entry in EVERY
        for folder in DEVICES
        if f"{entry.used}.".startswith(f"{folder}.") and not entry.user.startswith(folder)
    ]
    assert not wrong, show(wrong)


NAMES_OF_DEVICES = {"CPU", "DISK", "CUDA", "REFERENCE", "PYTHON"}
WHERE_DEVICES_ARE_NAMED = {"ir.device_names", "devices.known_devices"}


def test_nobody_but_a_device_names_it() -> None:
    wrong = []
    for name, path in MODULES.items():
        if name in WHERE_DEVICES_ARE_NAMED or name.startswith(tuple(DEVICES)):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and node.value in NAMES_OF_DEVICES:
                wrong.append(f"ogive.{name}:{node.lineno} says {node.value!r}")
    assert not wrong, "\n".join(wrong)


FOLDERS_OF_PASSES = (
    "capture", "general", "shards", "graph", "versions", "fuse", "regions", "loops", "place",
    "lower", "pipeline",
)  # fmt: skip
"""The folders of passes in the order in which graphs go through them, and their table."""


def test_folders_of_passes_import_earlier_ones_only() -> None:
    folders = {name.split(".")[1] for name in MODULES if name.startswith("passes.")}
    assert folders == set(FOLDERS_OF_PASSES)
    order = {f"passes.{folder}": at for at, folder in enumerate(FOLDERS_OF_PASSES)}
    places = {
        name: place
        for name in MODULES
        if (place := order.get(".".join(name.split(".")[:2]))) is not None
    }
    wrong = [e for e in EVERY if places.get(e.used, -1) > places.get(e.user, len(order))]
    assert not wrong, show(wrong)


def test_the_lists_of_exceptions_name_only_what_is_there() -> None:
    inside = {(entry.user, entry.used) for entry in EVERY if entry.inside_function}
    types = {(entry.user, entry.used) for entry in EVERY if entry.for_types}
    assert inside >= INSIDE_FUNCTIONS
    assert types >= FOR_TYPES_ONLY


def test_modules_import_each_other_in_no_circle() -> None:
    graph: dict[str, set[str]] = {name: set() for name in MODULES}
    for entry in EVERY:
        runs = not entry.inside_function and not entry.for_types
        if runs and entry.used in MODULES:
            graph[entry.user].add(entry.used)
    # A package's __init__ may gather its modules; they may not import it back.
    list(TopologicalSorter(graph).static_order())


LOADED = """
import json, sys
before = set(sys.modules)
import {0}
print(json.dumps(sorted({{name.partition(".")[0] for name in set(sys.modules) - before}})))
"""


def loaded_by(statement: str) -> set[str]:
    """The top-level modules that a new process loads for an import."""
    done = output_of(LOADED.format(statement))
    return set(json.loads(done))


def test_import_ogive_loads_numpy_and_nothing_else() -> None:
    own = loaded_by("ogive") - loaded_by("numpy")
    assert own - set(sys.stdlib_module_names) == {"ogive"}


def test_import_ogive_loads_nothing_of_numpy_that_numpy_does_not() -> None:
    program = "import sys, numpy; before = set(sys.modules); import ogive; "
    program += "print(*[n for n in set(sys.modules) - before if n.startswith('numpy')])"
    done = output_of(program)
    assert done.split() == []


def test_import_ogive_loads_neither_llvm_nor_a_database() -> None:
    assert not loaded_by("ogive") & {"llvmlite", "sqlite3", "torch", "argparse"}


def test_import_ogive_loads_no_part_of_the_compiler() -> None:
    program = "import ogive, sys; print(*[n for n in sys.modules if n.startswith('ogive.')])"
    done = output_of(program)
    names = [_short(name.removeprefix("ogive.")) for name in done.split()]
    parts = {name.partition(".")[0] for name in names}
    under = {
        "after_fork", "at_once", "compiler", "errors", "config", "counters", "digest", "journal",
        "named", "ir", "live", "devices",
    }  # fmt: skip
    assert parts <= {*under, "tensor", "jit", "compat"}
