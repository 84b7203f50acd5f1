"""Tools of each agent: as registered, restricted by an operator's file.

The file is TOML or JSON, one list of tool names an agent; an agent that it does not name keeps all of its own.
Calls of the tools under `approve` wait for the user's approval, besides those that always do:

    data_retrieval = ["list_datasets", "get_dataset_schema", "fetch_dataset"]
    data_analyst = []
    approve = ["run_python"]

Tables of single tools describe them, for every agent that has them:

    [tools.edit_file]
    description = "Change a text of the user. Ask before you shorten it."
    approval = "never"
    time_limit_s = 20

    [tools.write_file]
    enabled = false
"""

import importlib
import json
import pkgutil
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from app import tools
from app.errors import InvalidInput
from app.modeling.problem.name_resolution import nearest_names
from app.tools.agent_names import EVERY_AGENT
from app.tools.registry import REGISTRY, ToolSpec, agent_tools

for _module in pkgutil.walk_packages(tools.__path__, f"{tools.__name__}."):
    importlib.import_module(_module.name)  # which registers its tools

APPROVE, TOOLS = "approve", "tools"


class ToolRule(BaseModel):
    """An operator's rule of one tool. `approval`: of every call, or of none; by default as the tool has it.

    `time_limit_s`: seconds of a call; its cell ends with it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    enabled: bool = True
    description: Annotated[str, Field(min_length=1, max_length=4_000)] | None = None
    approval: Literal["always", "never"] | None = None
    time_limit_s: Annotated[float, Field(gt=0, le=3_600, allow_inf_nan=False)] | None = None

    def apply(self, spec: ToolSpec) -> ToolSpec:
        return replace(
            spec,
            description=self.description or spec.description,
            needs_approval=self.approval == "always" if self.approval else spec.needs_approval,
            time_limit_s=self.time_limit_s,
        )


_TABLE = TypeAdapter(dict[str, list[str]])
_RULES = TypeAdapter(dict[str, ToolRule])


@dataclass(frozen=True)
class Toolsets:
    """Restrictions of tools: `allowed` lists those of each agent it names, `approve` those that ask first.

    `rules`: those of single tools.
    """

    allowed: Mapping[str, Sequence[str]] = field(default_factory=dict)
    approve: Sequence[str] = ()
    rules: Mapping[str, ToolRule] = field(default_factory=dict)

    def for_agent(self, agent: str) -> Mapping[str, ToolSpec]:
        tools = agent_tools(agent)
        # An empty list is a restriction, too: it leaves the agent no tools.
        names = self.allowed.get(agent, list(tools))
        rules = {name: self.rules.get(name, ToolRule()) for name in names}
        return {
            name: self._with_approval(rule.apply(tools[name])) for name, rule in rules.items() if rule.enabled
        }

    def _with_approval(self, spec: ToolSpec) -> ToolSpec:
        # After the rule: of `never` and the list under `approve`, the careful one holds.
        return replace(spec, needs_approval=True) if spec.name in self.approve else spec


def load_toolsets(path: Path | None) -> Toolsets:
    """Load the operator's file. Raises InvalidInput with the file and its fault."""
    if path is None:
        return Toolsets()
    try:
        text = path.read_text(encoding="utf-8")
        document = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
        rules = _RULES.validate_python(document.pop(TOOLS, {}) if isinstance(document, dict) else {})
        table = _TABLE.validate_python(document)
    except OSError as error:
        raise _invalid_config(path, f"it cannot be read ({error.strerror})") from error
    except (ValueError, ValidationError) as error:
        raise _invalid_config(
            path, f"it is not a table of lists of tool names and of rules of tools ({error})"
        ) from error
    approve = table.pop(APPROVE, [])
    by_name = {spec.name: spec for spec in REGISTRY.values()}
    _check_names(path, APPROVE, approve, by_name)
    _check_names(path, TOOLS, [*rules], by_name)
    for agent, names in table.items():
        _check_agent(path, agent, names)
    return Toolsets(table, approve, rules)


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
