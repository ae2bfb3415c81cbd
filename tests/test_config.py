"""Settings: where they come from, and what becomes of values that make no sense."""

from __future__ import annotations

import warnings

import pytest

from ogive.config import VARIABLES, Beam, Config, Settings
from ogive.errors import ConfigError, ConfigWarning
from tests.new_process import output_of
from tests.raising import raises


def read(**environment: str) -> Config:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return Settings(environment).current()


def test_a_variable_goes_before_the_default_and_configure_before_it() -> None:
    settings = Settings({"OGIVE_THREADS": "3", "OGIVE_VERIFY": "yes"})
    assert (settings.current().threads, settings.current().verify) == (3, True)
    settings.configure({"threads": 5})
    assert (settings.current().threads, settings.current().verify) == (5, True)
    origins = [settings.origin(name) for name in ("threads", "verify", "vectorize")]
    assert origins == ["ogive.configure", "OGIVE_VERIFY", "default"]


def test_a_search_is_asked_for_by_width_and_seconds() -> None:
    assert read(OGIVE_BEAM="4").search == Beam(4)
    assert read(OGIVE_BEAM="4,30").search == Beam(4, 30.0)
    assert read(OGIVE_BEAM="0").search is None


@pytest.mark.parametrize("name", VARIABLES)
def test_an_empty_variable_is_as_none(name: str) -> None:
    assert read(**{VARIABLES[name]: ""}) == Config()


@pytest.mark.parametrize(
    ("variable", "text", "reason"),
    [
        ("OGIVE_VERIFY", "2", "is not of type bool"),
        ("OGIVE_THREADS", "many", "is not of type int"),
        ("OGIVE_THREADS", "-1", "threads must be 0"),
        ("OGIVE_THREADS", "514", "from 1 to 513"),
        ("OGIVE_PLANNER", "arean", "did you mean 'arena'"),
        ("OGIVE_LOG", "exekute", "did you mean 'execute'"),
        ("OGIVE_PANEL_BYTES", "-5", "panel_bytes must be 0 or more"),
        ("OGIVE_KERNEL_NODE_LIMIT", "0", "at least 1"),
        ("OGIVE_BEAM", "-3", "from 1, got -3"),
        ("OGIVE_BEAM", "4,never", "is not of type Beam"),
    ],
)
def test_a_senseless_variable_is_an_error_that_names_it(
    variable: str, text: str, reason: str
) -> None:
    with raises(ConfigError, match=f"{variable}='{text}'.*{reason}"):
        read(**{variable: text})


def test_after_an_error_nothing_is_in_force() -> None:
    settings = Settings({"OGIVE_THREADS": "many"})
    for _ in range(2):
        with raises(ConfigError, match="many"):
            settings.current()


def test_a_variable_that_is_no_setting_is_warned_of_once() -> None:
    settings = Settings({"OGIVE_THREAD": "4", "OTHER": "1"})
    with pytest.warns(ConfigWarning, match="OGIVE_THREAD is .* 'OGIVE_THREADS'") as caught:
        settings.current()
        settings.current()
    assert len(caught) == 1 and caught[0].filename == __file__


def test_a_cache_without_room_has_the_usual_size_and_is_warned_of_once() -> None:
    settings = Settings({"OGIVE_KERNEL_CACHE_SIZE": "0"})
    with pytest.warns(ConfigWarning, match="4096 is used instead") as caught:
        assert settings.current().kernel_cache_size == 4096
        settings.configure({"threads": 2})
    assert len(caught) == 1


AFTER_IMPORT = """
import os, ogive
os.environ["OGIVE_VERIFY"] = "1"
x = ogive.Tensor([1.0]) + 1
from ogive.config import current_config
print(current_config().verify)
"""


def test_a_variable_set_after_the_import_counts() -> None:
    done = output_of(AFTER_IMPORT)
    assert done == "True\n"
