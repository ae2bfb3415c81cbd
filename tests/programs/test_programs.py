"""Programs in the manner of published ones give under `ogive.torch` what they give under PyTorch.

Each is written for `torch`, which it imports, and has `main(capture)`, which gives results by name.
Here each is run twice, as `python program.py` and `python -m ogive.torch program.py` would, and
once more with the steps of its training captured.
"""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy
import pytest

import ogive.torch
from tests.programs.drawing import as_arrays

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for path in Path(__file__).parent.glob("*/[a-z]*.py")
)
IN_SUITE = {
    "generative.boltzmann", "generative.diffusion", "generative.masked_density",
    "generative.vae", "language.adaptive_vocabulary", "language.beam_search",
    "language.bigram_counts", "language.crf_tagger", "language.filtered_sampling",
    "language.kv_cache", "language.mixture_of_experts", "language.pointer_sorting",
    "language.retention", "language.word_vectors", "reinforcement.actor_critic",
    "reinforcement.dqn", "reinforcement.ppo_loss", "scientific.adaptive_steps",
    "scientific.clustering", "scientific.factorization", "scientific.graph_network",
    "scientific.kalman_filter", "scientific.mel_spectrogram", "scientific.nerf_rays",
    "scientific.point_sets", "scientific.siren", "training.data_loading",
    "training.equilibrium", "training.lbfgs_fit", "training.maml", "training.merged_adapters",
    "training.mnist_loop", "training.own_functions", "training.resumed_checkpoint",
    "training.schedules", "training.sharpness_aware", "vision.capsules",
    "vision.channel_shuffle", "vision.detection_boxes", "vision.distillation",
    "vision.masked_autoencoder", "vision.moving_digits", "vision.redundancy_reduction",
    "vision.style_losses",
}  # fmt: skip
"""Those that take about a second where nothing is compiled yet; the others are for long runs."""


def short(name: str) -> str:
    return name.removeprefix("tests.programs.")


def run(name: str, **options: Any) -> tuple[dict[str, Any], float]:
    """What a program gives under the `torch` that is found, and the difference that is none."""
    program = runpy.run_module(name, run_name="program")
    return as_arrays(program["main"](**options)), program["TOLERANCE"]


def run_under_ogive(name: str, captured: bool = False) -> dict[str, Any]:
    ogive.torch.install()
    try:
        return run(name, **({"capture": ogive.torch.compile} if captured else {}))[0]
    finally:
        ogive.torch.uninstall()


def compare(found: dict[str, Any], wanted: dict[str, Any], tolerance: float) -> None:
    assert wanted.keys() == found.keys()
    for key, value in wanted.items():
        if isinstance(value, str):
            assert found[key] == value
            continue
        assert found[key].shape == value.shape, key
        assert found[key].dtype == value.dtype, key
        numpy.testing.assert_allclose(
            found[key], value, rtol=tolerance, atol=tolerance, err_msg=key
        )


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name, id=short(name), marks=() if short(name) in IN_SUITE else pytest.mark.soak
        )
        for name in PROGRAMS
    ],
)
def test_the_program_gives_what_it_gives_under_pytorch(name: str) -> None:
    wanted, tolerance = run(name)
    compare(run_under_ogive(name), wanted, tolerance)


CAPTURED = [
    name
    for name in PROGRAMS
    if "@capture" in (ROOT / f"{name.replace('.', '/')}.py").read_text()
]
CAPTURED_IN_SUITE = {"scientific.factorization", "vision.distillation"}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name,
            id=short(name),
            marks=() if short(name) in CAPTURED_IN_SUITE else pytest.mark.soak,
        )
        for name in CAPTURED
    ],
)
def test_the_program_gives_the_same_with_its_step_captured(name: str) -> None:
    wanted, tolerance = run(name)
    compare(run_under_ogive(name, captured=True), wanted, tolerance)


def test_there_are_sixty_programs() -> None:
    assert len(PROGRAMS) >= 60


def test_the_command_runs_a_program_without_a_changed_line() -> None:
    command = [sys.executable, "-m", "ogive.torch", "-m", "tests.programs.training.schedules"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert "warm: [0.04" in done.stdout
