"""The tables of names: each entry exists in the installed libraries, and none stands for what is denied."""

import importlib
import warnings

import pytest

from app.sandbox.policy.allow_lists import MODULES
from app.sandbox.policy.namespace import SUBSTITUTES
from app.sandbox.policy.values import objects

EXPERIMENTAL = ("enable_halving_search_cv", "enable_iterative_imputer")


@pytest.fixture(scope="module", autouse=True)
def _experimental() -> None:
    for name in EXPERIMENTAL:
        importlib.import_module(f"sklearn.experimental.{name}")


@pytest.mark.parametrize("module", sorted(MODULES))
def test_every_listed_name_exists(module: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loaded = importlib.import_module(module)
        missing = [name for name in sorted(MODULES[module]) if not hasattr(loaded, name)]
    assert missing == [], f"{module} no longer has these names: take them out of the table"


@pytest.mark.parametrize("module", sorted(MODULES))
def test_no_listed_name_is_denied_without_a_stand_in(module: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loaded = importlib.import_module(module)
        values = {name: getattr(loaded, name) for name in MODULES[module]}
    denied = [
        name for name, value in values.items() if id(value) in objects._DENIED and id(value) not in SUBSTITUTES
    ]
    assert denied == []
