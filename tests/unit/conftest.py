"""Programs run in the process of the tests, which other tests go on using."""

import builtins

import pytest


@pytest.fixture(autouse=True)
def _own_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take back the `getattr` and `setattr` that a cell replaces for good: pickles hold them by identity."""
    for name in ("getattr", "setattr"):
        monkeypatch.setattr(builtins, name, getattr(builtins, name))
