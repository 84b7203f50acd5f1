"""Preferences of the user about the problem, and the resolution of those that name columns."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from app.agents.goals.tables.profiles import TableProfile
from app.agents.planner.output import ColumnType, MistakeSide, ModelChoice
from app.modeling.problem.kinds import ProblemKindName
from app.modeling.problem.name_resolution import nearest_names
from app.tools.context.preferences import DEFAULT_BUDGET_S

ColumnPreference = Literal["target", "time_column", "group_column"]
COLUMN_PREFERENCES: tuple[ColumnPreference, ...] = get_args(ColumnPreference)

NO_COLUMN_OPTION = "none of them"
MAX_OPTIONS = 8
"""Options of a question about a column: the nearest names, as many as a user compares at a glance."""


class PlanPreferences(BaseModel):
    """The preferences that a plan follows. A missing one is None or empty."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    target: str | None = None
    problem: ProblemKindName | None = None
    metric: str | None = None
    time_column: str | None = None
    group_column: str | None = None
    exclude: tuple[str, ...] = ()
    column_types: Mapping[str, ColumnType] = Field(default_factory=dict)
    positive_class: str | int | float | bool | None = None
    costs: dict[MistakeSide, float] | None = None
    horizon: int | None = None
    model: ModelChoice | None = None
    families: tuple[str, ...] = ()
    time_budget_s: float = DEFAULT_BUDGET_S
    review_plan: bool = False
    clarify: Literal["ask", "never"] = "ask"

    @property
    def implies_model(self) -> bool:
        """True if a preference makes sense only for a prediction."""
        return any(
            (
                self.target,
                self.problem,
                self.metric,
                self.horizon,
                self.positive_class,
                self.costs,
                self.model,
                self.families,
            )
        )

    @property
    def named_columns(self) -> tuple[tuple[ColumnPreference, str], ...]:
        """The preferences that name one column, with these names."""
        preferences: tuple[tuple[ColumnPreference, str | None], ...] = (
            ("target", self.target),
            ("time_column", self.time_column),
            ("group_column", self.group_column),
        )
        return tuple((key, name) for key, name in preferences if name)


def _drop_empty(preferences: Mapping[str, Any] | None) -> dict[str, Any]:
    return {key: value for key, value in (preferences or {}).items() if value not in (None, [], "")}


class PlannerBrief(BaseModel):
    """The brief of the planner. `preferences` without the empty ones, which count as missing."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    goal: str = ""
    preferences: Annotated[PlanPreferences, BeforeValidator(_drop_empty)] = Field(
        default_factory=PlanPreferences
    )


@dataclass(frozen=True)
class UnknownColumn:
    """A preference that names no column, with the nearest names."""

    key: ColumnPreference
    name: str
    options: tuple[str, ...]


@dataclass(frozen=True)
class ResolvedPreferences:
    """Preferences in the tables' spelling, those to ask about, and notes on ignored names."""

    preferences: PlanPreferences
    unknown: tuple[UnknownColumn, ...] = ()
    notes: tuple[str, ...] = ()


def resolve_preferences(
    preferences: PlanPreferences, tables: Sequence[TableProfile], answers: Mapping[ColumnPreference, str]
) -> ResolvedPreferences:
    """Resolve the names of columns, whatever their case. `answers`: the user's about unknown columns."""
    columns = list(dict.fromkeys(column.name for table in tables for column in table.columns))
    spellings = {name.casefold(): name for name in columns}
    changes: dict[str, str | None] = {}
    unknown = []
    for key, preference in preferences.named_columns:
        name = answers.get(key, preference)
        if spelling := spellings.get(name.casefold()):
            changes[key] = spelling
        elif name == NO_COLUMN_OPTION:
            changes[key] = None
        else:
            unknown.append(UnknownColumn(key, name, _options(key, name, tables)))
    types = {spellings.get(name.casefold(), name): kind for name, kind in preferences.column_types.items()}
    exclude = [spellings.get(name.casefold(), name) for name in preferences.exclude]
    resolved = preferences.model_copy(
        update={
            **changes,
            "exclude": tuple(_present(exclude, columns)),
            "column_types": {name: types[name] for name in _present(types, columns)},
        }
    )
    notes = [f"There is no column {name!r} to exclude." for name in _absent(exclude, columns)]
    notes += [f"There is no column {name!r} whose type could be set." for name in _absent(types, columns)]
    return ResolvedPreferences(resolved, tuple(unknown), tuple(notes))


def _present(names: Iterable[str], columns: Sequence[str]) -> list[str]:
    return [name for name in names if name in columns]


def _absent(names: Iterable[str], columns: Sequence[str]) -> list[str]:
    return [name for name in names if name not in columns]


def _options(key: ColumnPreference, name: str, tables: Sequence[TableProfile]) -> tuple[str, ...]:
    """Return the columns to choose from, nearest first, without those that a plan refuses as its target."""
    names = dict.fromkeys(
        column.name for table in tables for column in table.columns if key != "target" or column.can_be_target
    )
    nearest = nearest_names(name, names, MAX_OPTIONS) or list(names)[:MAX_OPTIONS]
    # Without a target there is nothing to predict, so "none of them" is no answer there.
    return (*nearest,) if key == "target" else (*nearest, NO_COLUMN_OPTION)
