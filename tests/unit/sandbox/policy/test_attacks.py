"""Attacks under the language policy alone, in a folder of their own."""

import contextlib
import sys
from pathlib import Path

import joblib
import pandas as pd
import pytest

from app.sandbox.policy.language.compiler import compile_code
from app.sandbox.policy.namespace import program_namespace

from .attacks import ATTACKS
from .class_corpus import CLASS_ATTACKS
from .library_attacks import LIBRARY_ATTACKS
from .memory_corpus import MEMORY_ATTACKS
from .module_corpus import MODULE_ATTACKS

ALL_ATTACKS = ATTACKS | LIBRARY_ATTACKS | CLASS_ATTACKS | MODULE_ATTACKS | MEMORY_ATTACKS
FILES_OUTSIDE = ["features.txt", "lines.json", "secret.mtx", "secret.parquet"]


@pytest.fixture(autouse=True)
def _own_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    monkeypatch.setattr(joblib.Memory, "__init__", joblib.Memory.__init__)


@pytest.fixture
def outside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with files that a program may not open."""
    folder = tmp_path_factory.mktemp("outside")
    (folder / "features.txt").write_text("0 SECRET q\n1 other q\n")
    (folder / "lines.json").write_text('{"secret": 1}\n')
    (folder / "secret.mtx").write_text("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 4.0\n")
    pd.DataFrame({"secret": [1]}).to_parquet(folder / "secret.parquet")
    return folder


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(ALL_ATTACKS))
def test_an_attack_of_the_corpus_is_refused(name: str, outside: Path) -> None:
    variables = program_namespace()
    with contextlib.suppress(Exception):  # an attack may be refused, or come to nothing
        exec(compile_code(ALL_ATTACKS[name].replace("@OUTSIDE@", str(outside))), variables)
    assert variables.get("result") != "PWNED"
    assert sorted(path.name for path in outside.iterdir()) == FILES_OUTSIDE
