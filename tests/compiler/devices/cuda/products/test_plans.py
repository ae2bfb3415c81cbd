"""Products as launches: padded copies where they pay, and where in the workspace they are."""

from __future__ import annotations

import pytest

from ogive.compiler.devices.cuda.products.launches import Memory, Number, TensorMap
from ogive.compiler.devices.cuda.products.plans import ProductPlan, plan_product
from ogive.compiler.devices.cuda.tensor_cores.product import Matrix, Product, multiply
from ogive.compiler.ir import dtype as dtypes


def _plan(product: Product) -> ProductPlan:
    plan = plan_product(product)
    assert plan is not None
    return plan


def _names(plan: ProductPlan) -> list[str]:
    return [launch.name.partition("_")[0] for launch in plan.launches]


def test_what_the_engine_can_copy_is_not_copied_before() -> None:
    plan = _plan(multiply(1024, 1024, 1024, dtypes.bfloat16))
    assert _names(plan) == ["warpgroup"]
    assert plan.workspace_bytes == 0


def test_both_operands_are_padded_in_one_launch() -> None:
    plan = _plan(multiply(1001, 999, 1003, dtypes.bfloat16))
    assert _names(plan) == ["padding", "warpgroup"]
    maps = [each for each in plan.launches[1].arguments if isinstance(each, TensorMap)]
    assert [each.memory.name for each in maps] == ["workspace", "workspace"]
    assert all(stride % 128 == 0 for each in maps for stride in each.strides[:1])


def test_copies_do_not_overlap() -> None:
    plan = _plan(multiply(1001, 999, 1003, dtypes.bfloat16))
    left, right = [each for each in plan.launches[1].arguments if isinstance(each, TensorMap)]
    size = left.strides[0] * left.extents[1]
    assert left.memory.offset + size <= right.memory.offset
    assert right.memory.offset + right.strides[0] * right.extents[1] <= plan.workspace_bytes


def test_an_operand_that_fits_stays_where_it_is() -> None:
    plan = _plan(multiply(2040, 2048, 2041, dtypes.bfloat16))
    assert _names(plan) == ["padding", "warpgroup"]
    maps = [each for each in plan.launches[1].arguments if isinstance(each, TensorMap)]
    assert [each.memory.name for each in maps] == ["workspace", "right", "result"]


def test_repeated_operands_are_copied_once() -> None:
    left = Matrix(dtypes.bfloat16, 301, 1, (0, 301 * 300))
    right = Matrix(dtypes.bfloat16, 320, 1, (301 * 320, 0))
    result = Matrix(dtypes.bfloat16, 320, 1, (4 * 300 * 320, 300 * 320))
    plan = _plan(Product(300, 320, 301, left, right, result, (6, 4)))
    assert _names(plan) == ["padding", "warpgroup"]
    assert plan.workspace_bytes == 4 * 300 * 320 * 2


@pytest.mark.parametrize("k", [100, 3001])
def test_many_terms_of_copies_are_multiplied_by_warpgroups(k: int) -> None:
    plan = _plan(multiply(200, 71, k, dtypes.bfloat16))
    if k > 512:
        assert _names(plan) == ["padding", "warpgroup"]
    assert len(plan.launches) <= 2


def test_memory_has_the_name_that_it_is_given() -> None:
    product = multiply(64, 64, 64, dtypes.float16)
    plan = plan_product(product, places={"left": Memory("slot3", 512)})
    assert plan is not None
    (launch,) = plan.launches
    places = [each.memory for each in launch.arguments if isinstance(each, TensorMap)]
    assert places[0] == Memory("slot3", 512)
    assert any(isinstance(each, Number) for each in launch.arguments)


def test_elements_without_tensor_cores_have_no_plan() -> None:
    assert plan_product(multiply(64, 64, 64, dtypes.float64)) is None
