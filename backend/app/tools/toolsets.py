"""Tools of each agent: as registered, restricted by an operator's file.

The file is TOML or JSON, one list of tool names an agent; an agent that it does not name keeps all of its own.
Calls of the tools under `approve` wait for the user's approval, besides those that always do:

    data_retrieval = ["list_datasets", "get_dataset_schema", "fetch_dataset"]
    data_analyst = []
    approve = ["run_python"]
"""

import importlib
import json
import pkgutil
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from app import tools
from app.errors import InvalidInput
from app.modeling.problem.name_resolution import nearest_names
from app.tools.registry import EVERY_AGENT, REGISTRY, ToolSpec, agent_tools

for _module in pkgutil.iter_modules(tools.__path__, f"{tools.__name__}."):
    importlib.import_module(_module.name)  # which registers its tools

APPROVE = "approve"
_TABLE = TypeAdapter(dict[str, list[str]])


@dataclass(frozen=True)
class Toolsets:
    """Restrictions of tools: `allowed` lists those of each agent it names, `approve` those that ask first."""

    allowed: Mapping[str, Sequence[str]] = field(default_factory=dict)
    approve: Sequence[str] = ()

    def for_agent(self, agent: str) -> Mapping[str, ToolSpec]:
        tools = agent_tools(agent)
        names = self.allowed.get(agent, list(tools))
        return {name: self._with_approval(tools[name]) for name in names}

    def _with_approval(self, spec: ToolSpec) -> ToolSpec:
        return replace(spec, needs_approval=True) if spec.name in self.approve else spec


def load_toolsets(path: Path | None) -> Toolsets:
    """Load the operator's file. Raises InvalidInput with the file and its fault."""
    if path is None:
        return Toolsets()
    try:
        text = path.read_text(encoding="utf-8")
        table = _TABLE.validate_python(json.loads(text) if path.suffix == ".json" else tomllib.loads(text))
    except OSError as error:
        raise _invalid_config(path, f"it cannot be read ({error.strerror})") from error
    except (ValueError, ValidationError) as error:
        raise _invalid_config(path, f"it is not a table of lists of tool names ({error})") from error
    approve = table.pop(APPROVE, [])
    _check_names(path, APPROVE, approve, REGISTRY)
    for agent, names in table.items():
        _check_agent(path, agent, names)
    return Toolsets(table, approve)


def _check_agent(path: Path, agent: str, names: Sequence[str]) -> None:
    if agent not in EVERY_AGENT:
        raise _invalid_config(path, f"there is no agent {agent!r}; agents are {', '.join(EVERY_AGENT)}")
    _check_names(path, agent, names, agent_tools(agent))


def _check_names(path: Path, key: str, names: Sequence[str], available: Mapping[str, ToolSpec]) -> None:
    for name in names:
        if name not in available:
            close = ", ".join(nearest_names(name, available)) or ", ".join(available)
            raise _invalid_config(path, f"{key} has no tool {name!r}; the nearest are {close}")


def _invalid_config(path: Path, what: str) -> InvalidInput:
    return InvalidInput("bad_tools_config", f"TOOLS_CONFIG={path}: {what}.")
