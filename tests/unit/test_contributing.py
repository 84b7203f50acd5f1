"""The pre-commit hooks run the checks of `make test`, and the documentation names files that exist."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_every_static_check_of_make_test_is_a_hook() -> None:
    makefile = (ROOT / "Makefile").read_text()
    hooks = (ROOT / ".pre-commit-config.yaml").read_text()
    for target in ("lint", "types", "imports"):
        recipe = makefile.split(f"\n{target}:", 1)[1].split("\n\n", 1)[0]
        tools = [line.split("$(BIN)/")[1].split()[0] for line in recipe.splitlines() if "$(BIN)/" in line]
        assert tools
        for tool in tools:
            assert f".venv/bin/{tool}" in hooks


def test_hooks_download_nothing() -> None:
    hooks = (ROOT / ".pre-commit-config.yaml").read_text()
    assert "repo: local" in hooks
    assert "http" not in hooks


def test_files_that_the_guide_names_exist() -> None:
    guide = (ROOT / "CONTRIBUTING.md").read_text()
    paths = set(re.findall(r"\b(?:backend|tests|docs|benchmarks)/[\w./-]*\w", guide))
    placeholders = {path for path in paths if "NAME" in path}
    assert len(placeholders) < len(paths)
    # An example writes this one: no tool of data retrieval has had a unit test of its own so far.
    examples = {"tests/unit/tools/data/test_retrieval.py"}
    assert [path for path in sorted(paths - placeholders - examples) if not (ROOT / path).exists()] == []


@pytest.mark.parametrize(
    ("contract", "exempt"),
    [
        ("FastAPI only at the HTTP edge", {"api", "main"}),
        ("Celery only at the background edge", {"worker"}),
        ("Outside cells only the pandas-free part of modeling", {"computations", "modeling"}),
    ],
)
def test_a_contract_on_a_library_names_every_package(contract: str, exempt: set[str]) -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (named,) = (set(entry["source_modules"]) for entry in contracts if entry["name"] == contract)
    entries = (ROOT / "backend" / "app").iterdir()
    packages = {
        f"app.{entry.stem}" for entry in entries if entry.suffix == ".py" or (entry / "__init__.py").exists()
    }
    assert named == packages - {"app.__init__", *(f"app.{name}" for name in exempt)}


# The page of renames lists names that are gone.
PAGES = sorted(page for page in (ROOT / "docs").glob("*.md") if page.name != "renames.md")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_modules_that_a_page_names_exist(page: Path) -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    files = [f"/{path}" for path in listed.splitlines()]
    named = set(re.findall(r"`([\w/]+\.py)`", page.read_text()))
    assert [name for name in sorted(named) if not any(path.endswith(f"/{name}") for path in files)] == []
