import sys
from collections.abc import Iterator
from importlib import import_module, invalidate_caches
from pathlib import Path

import pytest

from app.cli.quick_imports import hidden, postpone

PACKAGE = "labcrew_made_for_imports"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A package that imports its large module for everybody, beside a small one."""
    folder = tmp_path / PACKAGE / "types"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").touch()
    (folder / "__init__.py").write_text(
        f"from {PACKAGE}.types.large import SIZE\nfrom .small import NAME as NAME\n"
    )
    (folder / "large.py").write_text("SIZE = 3\n")
    (folder / "small.py").write_text('NAME = "small"\n')
    monkeypatch.syspath_prepend(tmp_path)
    invalidate_caches()
    yield f"{PACKAGE}.types"
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]


def test_a_postponed_package_runs_when_a_name_of_it_is_asked_for(package: str) -> None:
    postpone(package)
    assert import_module(f"{package}.small").NAME == "small"
    assert f"{package}.large" not in sys.modules
    types = import_module(package)
    assert sys.modules[PACKAGE].types is types
    assert (types.SIZE, types.NAME) == (3, "small")
    assert f"{package}.large" in sys.modules
    with pytest.raises(AttributeError, match="other"):
        _ = types.other


def test_a_postponed_package_gives_a_name_to_a_statement_of_import(package: str) -> None:
    postpone(package)
    names: dict[str, object] = {}
    exec(f"from {package} import SIZE", names)
    assert names["SIZE"] == 3


def test_a_package_that_is_imported_is_not_postponed(package: str) -> None:
    types = import_module(package)
    postpone(package)
    assert sys.modules[package] is types


def test_a_package_that_is_not_installed_is_not_postponed() -> None:
    postpone("labcrew_absent")
    assert "labcrew_absent" not in sys.modules


def test_a_module_is_hidden_for_the_block_only() -> None:
    with hidden("this"), pytest.raises(ModuleNotFoundError):
        import_module("this")
    assert "this" not in sys.modules


def test_a_module_that_is_imported_stays_visible() -> None:
    with hidden("json"):
        assert import_module("json").dumps([1]) == "[1]"
    assert "json" in sys.modules
