"""Transforms that belong to constraints do what PyTorch's do, with their inverses and volumes."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import torch as pytorch

import ogive.torch as torch

REGIONS = {
    "real": lambda c: c.real,
    "positive": lambda c: c.positive,
    "above 2": lambda c: c.greater_than_eq(2.0),
    "below 3": lambda c: c.less_than(3.0),
    "unit": lambda c: c.unit_interval,
    "between": lambda c: c.interval(-1.0, 4.0),
    "half open": lambda c: c.half_open_interval(0.0, 2.0),
    "vectors": lambda c: c.real_vector,
    "independent": lambda c: c.independent(c.positive, 1),
    "shares": lambda c: c.simplex,
    "correlations": lambda c: c.corr_cholesky,
    "parts": lambda c: c.cat([c.positive, c.unit_interval], 1, [2, 4]),
    "entries": lambda c: c.stack([c.positive, c.unit_interval, c.real], 0),
}


@pytest.mark.parametrize("region", REGIONS)
@pytest.mark.parametrize("registry", ["biject_to", "transform_to"])
def test_a_constraint_gives_its_transform(registry: str, region: str) -> None:
    values = numpy.random.default_rng().normal(size=(3, 6))
    found = []
    for library in (pytorch, torch):
        distributions = library.distributions
        transform = getattr(distributions, registry)(REGIONS[region](distributions.constraints))
        x = library.tensor(values.tolist(), dtype=library.float64, requires_grad=True)
        y = transform(x)
        (y * library.cos(y)).sum().backward()
        shown = [y, x.grad, transform.inv(y.detach())]
        if registry == "biject_to":
            shown.append(transform.log_abs_det_jacobian(x, y))
        found.append([numpy.array(each.tolist()) for each in shown])
        assert tuple(transform.forward_shape((3, 6))) == tuple(y.shape)
        assert tuple(transform.inverse_shape(tuple(y.shape))) == (3, 6)
    for theirs, ours in zip(*found, strict=True):
        numpy.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", ["lower_cholesky", "positive_definite", "positive_semidefinite"])
def test_a_constraint_of_matrices_gives_its_transform(name: str) -> None:
    values = numpy.random.default_rng().normal(size=(2, 3, 3))
    found = []
    for library in (pytorch, torch):
        distributions = library.distributions
        transform = distributions.transform_to(getattr(distributions.constraints, name))
        y = transform(library.tensor(values.tolist(), dtype=library.float64))
        found.append([numpy.array(each.tolist()) for each in (y, transform.inv(y))])
        with pytest.raises(NotImplementedError):
            distributions.biject_to(getattr(distributions.constraints, name))
    for theirs, ours in zip(*found, strict=True):
        numpy.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("library", [pytorch, torch], ids=["pytorch", "ogive"])
def test_a_program_registers_a_constraint_of_its_own(library: Any) -> None:
    distributions = library.distributions

    class Even(distributions.constraints.Constraint):  # type: ignore[name-defined, misc]
        pass

    with pytest.raises(NotImplementedError):
        distributions.transform_to(Even())
    registry = distributions.constraint_registry.ConstraintRegistry()

    @registry.register(Even)  # type: ignore[untyped-decorator]
    def of_even(constraint: Any) -> Any:
        return distributions.ExpTransform()

    registry.register(distributions.constraints.real, of_even)
    assert registry(Even())(library.zeros(1)).tolist() == [1.0]
    assert isinstance(registry(distributions.constraints.real), distributions.ExpTransform)
    with pytest.raises(TypeError):
        registry.register("even", of_even)


@pytest.mark.parametrize("library", [pytorch, torch], ids=["pytorch", "ogive"])
def test_sizes_that_fit_no_matrix_are_refused(library: Any) -> None:
    transform = library.distributions.transforms.CorrCholeskyTransform()
    with pytest.raises(ValueError):
        transform.forward_shape((4,))
    with pytest.raises(ValueError):
        transform.inverse_shape((3, 4))
