"""Which tools each agent has: what the tools themselves say, narrowed by an operator's file.

The file is TOML or JSON, one list of tool names an agent; an agent that it does not name keeps all of its own:

    data_retrieval = ["list_datasets", "get_dataset_schema", "fetch_dataset"]
    data_analyst = []
"""

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

# Importing a module of tools registers them.
from app.errors import InvalidInput
from app.modeling.nearest import nearest
from app.tools import analysis, ask, code, data, modeling, prices, reporting
from app.tools.registry import EVERY_AGENT, ToolSpec, tools_of

MODULES = (analysis, ask, code, data, modeling, prices, reporting)
_TABLE = TypeAdapter(dict[str, list[str]])


@dataclass(frozen=True)
class Toolsets:
    """`allowed`: for each agent named in it, the only tools it keeps."""

    allowed: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def of(self, agent: str) -> Mapping[str, ToolSpec]:
        tools = tools_of(agent)
        allowed = self.allowed.get(agent)
        return tools if allowed is None else {name: tools[name] for name in allowed}


def load_toolsets(path: Path | None) -> Toolsets:
    """The operator's file; raises InvalidInput naming the file and what is wrong in it."""
    if path is None:
        return Toolsets()
    try:
        text = path.read_text(encoding="utf-8")
        table = _TABLE.validate_python(json.loads(text) if path.suffix == ".json" else tomllib.loads(text))
    except OSError as error:
        raise _wrong(path, f"it cannot be read ({error.strerror})") from error
    except (ValueError, ValidationError) as error:
        raise _wrong(path, f"it is not a table of lists of tool names ({error})") from error
    for agent, names in table.items():
        _check(path, agent, names)
    return Toolsets(table)


def _check(path: Path, agent: str, names: Sequence[str]) -> None:
    if agent not in EVERY_AGENT:
        raise _wrong(path, f"there is no agent {agent!r}; agents are {', '.join(EVERY_AGENT)}")
    known = tools_of(agent)
    for name in names:
        if name not in known:
            close = ", ".join(nearest(name, known)) or ", ".join(known)
            raise _wrong(path, f"{agent} has no tool {name!r}; the nearest are {close}")


def _wrong(path: Path, what: str) -> InvalidInput:
    return InvalidInput("bad_tools_config", f"TOOLS_CONFIG={path}: {what}.")
