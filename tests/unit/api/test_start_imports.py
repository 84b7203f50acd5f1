"""Imports for which the start of the API and of the workers waits."""

import json
import subprocess
import sys

import pytest

PROGRAM = """
import json, os, sys
from app.cli.supervisor.process_commands import load_shared, load_worker
load_shared()
shared = set(sys.modules)
if os.fork() == 0:
    from app.main import create_app
    from app.settings import load_settings
    create_app(load_settings())
    print(json.dumps(sorted({*sys.modules} - shared)), flush=True)
    os._exit(0)
os.wait()
load_worker()
print(json.dumps(sorted({*sys.modules} - shared)))
print(json.dumps(sorted(shared)))
"""

FIRST_USED_LATER = {
    "app.pipeline.fork_changes",
    "app.workflows.conversations.lanes",
    "app.tools.conversations.queries",
    "app.tools.finalization.final_evaluation",
    "langchain_core",
    "langgraph",
    "pandas",
}

MAX_IMPORTED_TWICE = 40
"""Modules of this package that the API and the workers may both import after the fork. Each takes a millisecond
of either; there were 148 before the shared modules named them."""


@pytest.fixture(scope="module")
def imports() -> tuple[set[str], set[str], set[str]]:
    """Names of the modules of the API alone, of a worker alone, and of those that both share."""
    ended = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    api, worker, shared = (set(json.loads(line)) for line in ended.stdout.splitlines())
    return api, worker, shared


def test_the_api_starts_without_the_language_of_goals_and_without_tools(
    imports: tuple[set[str], set[str], set[str]],
) -> None:
    api, _, shared = imports
    assert (api | shared) & FIRST_USED_LATER == set()


def test_what_the_api_and_the_workers_import_is_imported_once(
    imports: tuple[set[str], set[str], set[str]],
) -> None:
    api, worker, _ = imports
    twice = sorted(name for name in api & worker if name.startswith("app."))
    assert len(twice) <= MAX_IMPORTED_TWICE, twice


def test_a_service_starts_without_what_libraries_bring_for_terminals_and_for_other_services(
    imports: tuple[set[str], set[str], set[str]],
) -> None:
    api, worker, shared = imports
    unused = {"rich", "prompt_toolkit", "celery.bin.celery", "langsmith.types.run"}
    assert (api | worker | shared) & unused == set()
