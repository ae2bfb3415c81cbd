"""Compile a region that is a product: texts of kernels, and a line that says how to launch them.

    ; product {"slots": [0, 1, 2], "workspace": 0, "launches": [{"name": …, "arguments": …}, …]}

The line precedes the texts, and later the PTX made from them. The code stays PTX until it is loaded
because the driver's linker would drop the instructions that move registers between warpgroups.
"""

from __future__ import annotations

import json
from typing import Any

from ogive.compiler.devices.cuda.products.launches import (
    Argument,
    Launch,
    Memory,
    Number,
    TensorMap,
)
from ogive.compiler.devices.cuda.products.plans import ProductPlan, plan_product
from ogive.compiler.devices.cuda.products.region_product import RegionProduct, find_product
from ogive.compiler.devices.cuda.products.region_steps import RegionStep
from ogive.compiler.devices.cuda.products.tile_choice import Machine
from ogive.compiler.devices.protocol import CompiledKernel
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.node import UOp
from ogive.compiler.passes.graph.products.tensor_core_products import LEAST_LENGTH, LEAST_SIDE
from ogive.compiler.passes.lower.kernel_names import kernel_axes, kernel_name
from ogive.compiler.passes.lower.kernel_signature import kernel_signature
from ogive.compiler.passes.pipeline.pass_runner import Compilation
from ogive.compiler.passes.pipeline.region_passes import LOOP_PASSES
from ogive.compiler.targets.target import Target
from ogive.config import Config
from ogive.errors import LoadError
from ogive.named import NamedTuple

MARK = "; product "
"""The beginning of the text and of the code of every product."""
_BETWEEN = "\n; next module\n"
_PASSES = tuple([each for each in LOOP_PASSES if each.name in ("rangeify", "merge_axes")])


class ProductCode(NamedTuple):
    """The code of a product: the slots of its buffers, and launches with a module for each."""

    slots: tuple[int, ...]
    workspace_bytes: int
    launches: tuple[Launch, ...]


def compile_product(region: UOp, target: Target, config: Config) -> CompiledKernel | None:
    """Compile a region for tensor cores; None if they cannot compute it or it would not pay."""
    if not target.grid.tensor_cores:
        return None
    compilation = Compilation(config, region=region, target=target)
    loops: UOp = compilation.run(_PASSES)
    form = find_product(loops)
    if form is None or not _is_worth_it(form):
        return None
    plan = _plan(form, target)
    if plan is None:
        return None
    product, signature = form.product, kernel_signature(loops)
    return CompiledKernel(
        name=kernel_name(loops),
        axes=kernel_axes(loops),
        ir=write_code(ProductCode(signature.slots, plan.workspace_bytes, plan.launches)),
        signature=signature,
        tiles=UOp.const(dtypes.index, 1),
        work=product.m * product.n * product.k * product.batches,
        costs=_costs(form),
        timings=compilation.timings,
    )


def _is_worth_it(form: RegionProduct) -> bool:
    product = form.product
    return min(product.m, product.n) >= LEAST_SIDE and product.k >= LEAST_LENGTH


def _plan(form: RegionProduct, target: Target) -> ProductPlan | None:
    grid = target.grid
    machine = Machine(grid.multiprocessors, grid.shared_bytes, target.cpu.endswith("a"))
    matrices = {"left": form.left, "right": form.right, "result": form.result}
    sizes = {"left": form.product.left, "right": form.product.right,
             "result": form.product.result}  # fmt: skip
    places = {
        name: Memory(f"slot{access.slot}", access.first * sizes[name].dtype.itemsize)
        for name, access in matrices.items()
    }
    return plan_product(form.product, (RegionStep(form, target),), machine, places=places)


def _costs(form: RegionProduct) -> tuple[int, int, int]:
    """Instructions of 64 × 64 × 16, bytes read, and bytes written, each counted once."""
    product = form.product
    size, batches = product.operand.itemsize, product.batches
    read = (product.m * product.k + product.k * product.n) * size * batches
    written = product.m * product.n * product.result.dtype.itemsize * batches
    return max(1, product.m * product.n * product.k * batches >> 16), read, written


# The line


def write_code(code: ProductCode, modules: list[str] | None = None) -> str:
    """The line, followed by the texts of the kernels or by the `modules` made from them."""
    line = {
        "slots": code.slots, "workspace": code.workspace_bytes,
        "launches": [_launch_fields(launch) for launch in code.launches],
    }  # fmt: skip
    modules = [launch.module for launch in code.launches] if modules is None else modules
    return MARK + json.dumps(line) + "\n" + _BETWEEN.join(modules)


def read_code(text: str) -> ProductCode:
    """Read what `write_code` wrote. Raises `LoadError`."""
    line, _, behind = text.partition("\n")
    try:
        fields = json.loads(line.removeprefix(MARK))
        modules = behind.split(_BETWEEN)
        launches = [
            _read_launch(launch, module)
            for launch, module in zip(fields["launches"], modules, strict=True)
        ]
        return ProductCode(tuple(fields["slots"]), fields["workspace"], tuple(launches))
    except (ValueError, KeyError, TypeError) as error:
        raise LoadError(f"a product does not say how it is launched: {error}") from None


def assemble_product(text: str, target: Target) -> bytes:
    """Compile each kernel of a product to PTX. Raises `CompileError`."""
    from ogive.compiler.devices.cuda.compile_kernel import write_ptx

    code = read_code(text)
    modules = [write_ptx(launch.module, target) for launch in code.launches]
    return write_code(code, modules).encode()


def _launch_fields(launch: Launch) -> dict[str, Any]:
    fields = launch._asdict()
    del fields["module"]
    fields["arguments"] = [_argument_fields(each) for each in launch.arguments]
    return fields


def _argument_fields(argument: Argument) -> list[Any]:
    if isinstance(argument, Memory):
        return ["memory", *argument]
    if isinstance(argument, Number):
        return ["number", *argument]
    return ["map", list(argument.memory), argument.dtype.name, *argument[2:]]


def _read_launch(fields: dict[str, Any], module: str) -> Launch:
    arguments = tuple([_read_argument(each) for each in fields.pop("arguments")])
    return Launch(module=module, arguments=arguments, **fields)


def _read_argument(fields: list[Any]) -> Argument:
    kind, *values = fields
    if kind == "memory":
        return Memory(*values)
    if kind == "number":
        return Number(*values)
    memory, name, *rest = values
    extents, strides, box, swizzle = rest
    dtype = getattr(dtypes, name)
    return TensorMap(Memory(*memory), dtype, tuple(extents), tuple(strides), tuple(box), swizzle)
