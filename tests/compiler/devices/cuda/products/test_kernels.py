"""Kernels for products assemble, for every form of operand, and one serves all sizes of a form."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from ogive.compiler.devices.cuda.products.launches import TensorMap, Tile, launch_product
from ogive.compiler.devices.cuda.products.padding_copy import write_padding_copy
from ogive.compiler.devices.cuda.tensor_cores.product import Matrix, Product, multiply
from ogive.compiler.devices.cuda.tensor_cores.tiles import WarpgroupTile, WarpTile
from ogive.compiler.devices.llvm.library.assembler import assembly
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType
from ogive.compiler.targets.target import Target

GPU = Target("nvptx64-nvidia-cuda", "sm_90a", "+ptx86", 16, False, 32, 0, 0, 0)
SMALL = WarpTile(64, 64, 64, 2, 2)


def _write(product: Product, tile: Tile) -> str:
    return launch_product(product, tile).module


def _assemble(module: str, folder: Path) -> str:
    """PTX by LLVM, and what the driver's assembler says of it, where there is one."""
    ptx = assembly(module, GPU)
    assert ".extern .func" not in ptx, "a misspelt intrinsic is called instead"
    assembler = shutil.which("ptxas")
    if assembler is not None:
        (folder / "kernel.ptx").write_text(ptx)
        command = [assembler, "-arch=sm_90a", "-v", "kernel.ptx", "-o", "kernel.cubin"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert "serialized" not in done.stderr, "products wait for each other"
    return ptx


@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize(
    ("dtype", "instruction"),
    [
        (dtypes.bfloat16, "m16n8k16.row.col.f32.bf16.bf16.f32"),
        (dtypes.float32, "m16n8k8.row.col.f32.tf32.tf32.f32"),
    ],
)
def test_warp_products_assemble(
    left: bool, right: bool, dtype: DType, instruction: str, tmp_path: Path
) -> None:
    product = multiply(64, 72, 80, dtype, left_transposed=left, right_transposed=right)
    assert instruction in _assemble(_write(product, WarpTile(64, 64, 32, 2, 2)), tmp_path)


def test_warp_products_of_bytes_assemble(tmp_path: Path) -> None:
    product = multiply(64, 64, 64, dtypes.int8, dtypes.int32, right_transposed=True)
    assert "m16n8k32.row.col.s32.s8.s8.s32" in _assemble(_write(product, SMALL), tmp_path)


def test_warps_may_divide_k(tmp_path: Path) -> None:
    product = multiply(16, 64, 512, dtypes.bfloat16)
    _assemble(_write(product, WarpTile(16, 32, 128, 1, 1, 4)), tmp_path)


@pytest.mark.parametrize(("n", "unit"), [(64, 16), (68, 8), (66, 4)])
def test_copies_are_as_wide_as_lines_allow(n: int, unit: int) -> None:
    text = _write(multiply(8, n, 64, dtypes.bfloat16), SMALL)
    assert f"[$0], [$1], {unit}, $2;" in text


def test_lines_of_odd_length_are_copied_through_registers() -> None:
    text = _write(multiply(8, 65, 33, dtypes.bfloat16), SMALL)
    assert "cp.async.cg" not in text
    assert "cp.async.ca" not in text
    assert "load i16" in text


@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("right", [False, True])
def test_warpgroup_products_assemble(left: bool, right: bool, tmp_path: Path) -> None:
    product = multiply(
        64, 72, 80, dtypes.bfloat16, left_transposed=left, right_transposed=right
    )
    ptx = _assemble(_write(product, WarpgroupTile(128, 128, 4)), tmp_path)
    assert "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16" in ptx
    assert f", keep, 1, 1, {int(left)}, {int(not right)};" in ptx


@pytest.mark.parametrize(
    ("dtype", "result", "instruction"),
    [
        (dtypes.float16, dtypes.float32, "m64n64k16.f32.f16.f16"),
        (dtypes.float32, dtypes.float32, "m64n64k8.f32.tf32.tf32"),
        (dtypes.int8, dtypes.int32, "m64n64k32.s32.s8.s8"),
        (dtypes.float8_e4m3, dtypes.bfloat16, "m64n64k32.f32.e4m3.e4m3"),
    ],
)
def test_warpgroup_products_of_other_types_assemble(
    dtype: DType, result: DType, instruction: str, tmp_path: Path
) -> None:
    product = multiply(64, 64, 64, dtype, result, right_transposed=True)
    assert instruction in _assemble(_write(product, WarpgroupTile(64, 64, 4)), tmp_path)


@pytest.mark.parametrize("tile", [WarpgroupTile(128, 144, 4), WarpgroupTile(64, 64, 4, splits=4)])
def test_odd_widths_and_shared_tiles_assemble(tile: WarpgroupTile, tmp_path: Path) -> None:
    ptx = _assemble(_write(multiply(64, 64, 512, dtypes.bfloat16), tile), tmp_path)
    assert (".reqnctapercluster 4" in ptx) == (tile.splits == 4)


def test_padding_copies_assemble(tmp_path: Path) -> None:
    _assemble(write_padding_copy(dtypes.bfloat16), tmp_path)


@pytest.mark.parametrize("tile", [SMALL, WarpgroupTile(64, 64, 4)])
def test_a_kernel_serves_all_sizes_of_a_form(tile: Tile) -> None:
    texts = {
        _write(multiply(m, n, k, dtypes.bfloat16), tile)
        for m, n, k in ((8, 16, 24), (800, 1600, 2400), (1, 8, 8))
    }
    assert len(texts) == 1


def test_results_whose_lines_the_engine_cannot_take_are_stored_by_warps() -> None:
    tile, by_engine = WarpgroupTile(64, 64, 4), "cp.async.bulk.tensor.4d.global"
    fitting = _write(multiply(64, 64, 64, dtypes.bfloat16), tile)
    odd = _write(multiply(64, 65, 64, dtypes.bfloat16, right_transposed=True), tile)
    wide = _write(multiply(64, 64, 64, dtypes.bfloat16, dtypes.float32), tile)
    assert by_engine in fitting
    assert by_engine not in odd
    assert ("stmatrix" in odd, "st.global.b16" in odd) == (True, True)
    assert ("stmatrix" in wide, "st.global.b64" in wide) == (False, True)


def test_tensor_maps_have_the_batch_axes_that_matrices_have() -> None:
    left = Matrix(dtypes.bfloat16, 64, 1, (0, 50 * 64))
    right = Matrix(dtypes.bfloat16, 64, 1, (40 * 64, 0))
    result = Matrix(dtypes.float32, 64, 1, (3 * 50 * 64, 50 * 64))
    product = Product(50, 64, 40, left, right, result, (2, 3))
    launch = launch_product(product, WarpgroupTile(64, 64, 4))
    maps = [each for each in launch.arguments if isinstance(each, TensorMap)]
    assert [each.extents for each in maps] == [(40, 50, 3, 1), (64, 40, 1, 2)]
    assert [each.strides for each in maps] == [(128, 6400, 80), (128, 128, 5120)]
    assert launch.blocks == 6
