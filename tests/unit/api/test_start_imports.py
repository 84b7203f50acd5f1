"""Imports for which the API's start waits."""

import subprocess
import sys

PROGRAM = """
import sys
from app.cli.supervisor.process_commands import load_shared
load_shared()
from app.main import create_app
from app.settings import load_settings
create_app(load_settings())
first_used_later = (
    "app.pipeline.fork_changes",
    "app.workflows.conversations.lanes",
    "app.tools.conversations.queries",
    "app.tools.finalization.final_evaluation",
    "langchain_core",
    "langgraph",
    "pandas",
)
print(*(name for name in first_used_later if name in sys.modules))
"""


def test_the_api_starts_without_the_language_of_goals_and_without_tools() -> None:
    ended = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (0, "\n"), ended.stderr
