"""Attacks under the language policy alone, in a folder of their own."""

import contextlib
import sys
from pathlib import Path

import joblib
import pytest

from app.sandbox.policy.language import compile_code
from app.sandbox.policy.namespace import program_namespace

from .attacks import ATTACKS


@pytest.fixture(autouse=True)
def _own_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    monkeypatch.setattr(joblib.Memory, "__init__", joblib.Memory.__init__)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(ATTACKS))
def test_an_attack_of_the_corpus_is_refused(name: str) -> None:
    variables = program_namespace()
    with contextlib.suppress(Exception):  # an attack may be refused, or come to nothing
        exec(compile_code(ATTACKS[name]), variables)
    assert variables.get("result") != "PWNED"
