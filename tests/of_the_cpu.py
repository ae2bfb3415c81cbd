"""Tests of what only the CPU does, or that expect it as the device: left out where another is set.

`OGIVE_DEVICE=CUDA python -m pytest` runs the suite on a GPU. A test that is not listed here is to
pass there. Each entry is a folder, a module, or a test of one, with a reason of `REASONS`.
"""

from __future__ import annotations

REASONS = {
    "at once": "only the CPU computes small tensors at once, and writes elements by itself",
    "host": "reads, lends or borrows memory of the host as it lies",
    "mixed": "mixes tensors of the default device with those of the CPU",
    "kernels": "counts or describes kernels, panels, threads or levels of the CPU",
    "name": "expects the CPU's name",
    "process": "forks, limits or interrupts a process in a way that a GPU does not allow",
}

INTERPRETED = "interpreted"
"""What tests are called that have a graph interpreted over memory of the host."""

_LISTED = {
    "at once": """
        tests/eager/
        tests/tensor/memory/test_direct_writes.py
        tests/tensor/values/test_direct_access.py
        tests/tensor/test_outlined.py
        tests/tensor/elementwise/test_changing_numbers.py
        tests/compiler/live/test_registry.py::test_capture_makes_few_nodes
    """,
    "host": """
        tests/tensor/values/test_interchange.py
        tests/tensor/creation/test_construction.py::test_a_tensor_of_an_array_is_a_copy
        tests/tensor/creation/test_construction.py::test_arrays_of_any_layout_keep_their_values
        tests/tensor/creation/test_construction.py::test_every_dtype_holds_data
        tests/tensor/indexing/test_advanced_indexing.py::test_arrays_masks_and_slices_agree
        tests/tensor/indexing/test_advanced_indexing.py::test_integers_among_them_agree_with_torch
        tests/tensor/indexing/test_basic_indexing.py::test_reading_agrees_with_numpy
        tests/tensor/indexing/test_basic_indexing.py::test_writing_agrees_with_numpy
        tests/tensor/test_numerics.py::test_results_are_on_the_device_of_their_operands
        tests/compiler/engine/test_borrowed.py
        tests/compiler/engine/test_loops.py::test_memory_behind_a_node_that_was_assigned_to_is_lent
        tests/jit/test_updates.py::test_memory_that_was_lent_meanwhile_is_not_written_to
    """,
    "mixed": """
        tests/compiler/engine/caches/test_general_graphs.py
        tests/compiler/engine/caches/test_graph_cache.py::test_a_graph_with_a_parameter_that_does_not_matter
        tests/compiler/engine/steps/test_steps.py::test_random_plans_agree_with_numpy_in_every_mode
        tests/compiler/engine/test_memory.py::test_the_arena_of_a_random_graph_is_close_to_its_largest
        tests/compiler/engine/test_several_devices.py
        tests/compiler/engine/test_sharded_tensors.py
        tests/jit/test_guards.py::test_a_change_is_seen_however_the_tensor_was_made_and_is_used
        tests/jit/test_random_functions.py
        tests/jit/test_sharded_tensors.py
        tests/optim/test_parity.py::test_a_step_on_another_device_is_the_same_step
        tests/optim/test_state_parts.py
        tests/training/test_examples.py
        tests/training/test_sharded_training.py
        tests/conformance/test_conformance.py::test_a_stated_difference_is_there
        tests/conformance/test_conformance.py::test_values_and_gradients_are_those_of_pytorch[linspace
        tests/conformance/test_conformance.py::test_values_and_gradients_are_those_of_pytorch[logspace
        tests/test_robustness.py::test_no_tile_takes_so_long_that_it_could_not_be_interrupted
    """,
    "kernels": """
        tests/compiler/engine/caches/test_kept_panels.py
        tests/compiler/engine/steps/test_execution_levels.py
        tests/compiler/engine/steps/test_thread_counts.py
        tests/compiler/engine/test_logs.py
        tests/compiler/engine/test_record_passes.py
        tests/random/test_dropout.py::test_dropout_is_one_kernel_with_what_uses_it
        tests/tensor/neural/test_feature_normalization.py::test_a_row_is_normalized_in_one_kernel
        tests/test_warm_start.py
    """,
    "name": """
        tests/jit/test_guards.py::test_another_kind_of_call_is_traced_anew_with_a_reason
        tests/tensor/creation/test_construction.py::test_a_python_number_takes_no_memory
        tests/tensor/creation/test_construction.py::test_facts_about_a_tensor
        tests/tensor/creation/test_construction.py::test_text_is_of_values
        tests/tensor/elementwise/test_complex_numbers.py::test_values_come_in_and_go_out
        tests/tensor/test_families.py::test_facts_about_shape_and_memory
        tests/tensor/test_symbolic.py::test_what_is_known_about_a_symbolic_tensor
        tests/tensor/values/test_looks.py
    """,
    "process": """
        tests/compiler/engine/test_disk.py
        tests/compiler/engine/test_interrupts.py
        tests/io/test_hostile_files.py
        tests/test_robustness.py::test_a_child_process_computes_after_a_fork
        tests/test_robustness.py::test_a_fork_while_other_threads_compute_leaves_a_working_child
        tests/test_robustness.py::test_control_c_interrupts_a_long_execution_and_the_process
    """,
}


def why_of_the_cpu(name: str) -> str | None:
    """Why a test, by its name in full, is not for another device; None if it is."""
    if f"{INTERPRETED}]" in name:
        return REASONS["host"]
    for reason, places in _LISTED.items():
        if any(name.startswith(place) for place in places.split()):
            return REASONS[reason]
    return None
