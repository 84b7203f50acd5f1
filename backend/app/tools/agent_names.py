"""Names of the agents, for modules that may not or need not import the agents."""

from pathlib import Path

_AGENTS = Path(__file__).parents[1] / "agents"
EVERY_AGENT = tuple(sorted(prompt.parent.name for prompt in _AGENTS.glob("*/prompt.md")))
"""Names of the agents: the folders that hold a prompt. Read from the file system, since tools may not import
agents and a second list would be forgotten."""
