"""The meaning of a query plan, whatever its columns are called: by it two readings are one or two."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from app.plans.expressions import parse_datetime
from app.plans.plan import (
    DeriveStep,
    FilterStep,
    GroupStep,
    LimitStep,
    Plan,
    PlanSource,
    SelectStep,
    SortStep,
    Step,
    WindowStep,
)


class PlanMeaning(NamedTuple):
    """The computation of a plan. `steps`: what selects, groups and orders rows, without names of its own.

    `answer_values`: the values of the answer's columns.
    """

    steps: tuple[str, ...]
    answer_values: frozenset[str]

    def agrees(self, other: "PlanMeaning") -> bool:
        """Test if two plans give the same rows, in any order, and one of them all values that the other has.

        Numbers of rows beside other figures only say on how much these rest.
        """
        own, others = _without_counts(self.answer_values), _without_counts(other.answer_values)
        return self.steps == other.steps and (own <= others or others <= own)


def _without_counts(answer_values: frozenset[str]) -> frozenset[str]:
    # A share has the number of rows that meet its condition beside it.
    is_share = any("share_true" in value for value in answer_values)
    figures = frozenset(
        value
        for value in answer_values
        if value != _PLAIN_COUNT and not (is_share and '"function": "count"' in value)
    )
    return figures if any('"function"' in value for value in figures) else answer_values


_PLAIN_COUNT = '{"function": "count"}'


def meaning_of(plan: Plan) -> PlanMeaning:
    """Return the meaning of a plan."""
    return _Meaning(plan).read()


class _Meaning:
    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.values: dict[str, str] = {}
        """What each column of the plan's own stands for."""
        self.filters: set[str] = set()
        self.present: set[str] = set()
        """Values that must be there: by themselves a condition, beside a figure of them none."""
        self.order: tuple[str, ...] = ()
        self.steps: list[str] = []
        self.answer_values: list[str] | None = None

    def read(self) -> PlanMeaning:
        source = self.plan.source
        if isinstance(source, PlanSource):
            inner = meaning_of(source.plan)
            self.steps += [*inner.steps, "shown " + " ".join(sorted(inner.answer_values))]
        else:
            self.steps.append(source.model_dump_json())
        for step in self.plan.steps:
            self.read_step(step)
        self.close()
        answer_values = self.answer_values if self.answer_values is not None else [*self.values]
        meant = frozenset(map(self.value, answer_values))
        rest = [*self.steps, *(meant if any(isinstance(s, GroupStep) for s in self.plan.steps) else ())]
        alone = sorted(value for value in self.present if not any(value in text for text in rest))
        return PlanMeaning((*self.steps, *(f"present {value}" for value in alone)), meant)

    def read_step(self, step: Step) -> None:
        match step:
            case FilterStep():
                self.filters |= {*self.conditions(step.condition.model_dump())}
            case DeriveStep():
                self.add_columns(step)
            case WindowStep():
                self.close()  # its figures are of the rows that are left
                self.add_columns(step)
            case GroupStep():
                self.group(step)
            case SelectStep():
                self.select(step)
            case SortStep():
                keys = (f"{self.value(key.column)} {key.descending}" for key in step.keys)
                self.order = (f"sort {' '.join(keys)}",)
            case LimitStep():
                self.close()
                self.steps += [*self.order, f"limit {step.rows}"]
            case _:
                self.close()
                self.steps.append(self.figure(step.model_dump()))

    def add_columns(self, step: DeriveStep | WindowStep) -> None:
        if isinstance(step, DeriveStep):
            for column in step.columns:
                self.values[column.name] = self.expression(column.expression.model_dump())
        else:
            for figure in step.columns:
                self.values[figure.name] = self.figure(figure.model_dump())

    def close(self) -> None:
        """End the filters of one stage, whose order says nothing."""
        if self.filters:
            self.steps.append("filter " + " & ".join(sorted(self.filters)))
            self.filters = set()

    def group(self, step: GroupStep) -> None:
        self.drop_implied(step)
        self.close()
        keys = {key: self.value(key) for key in step.keys}
        figures = {entry.name: self.figure(entry.model_dump()) for entry in step.aggregations}
        # Sort keys of groups stand beside what they sort: the months' numbers beside their names.
        self.steps.append("group " + " ".join(sorted(set(keys.values()))))
        self.values = {**keys, **figures}
        self.order, self.answer_values = (), None

    def drop_implied(self, step: GroupStep) -> None:
        """Drop filters that the rows of every figure meet anyway: one of two values, of the figures of each."""
        wheres = [self.unnamed(f.where.model_dump()) for f in step.aggregations if f.where is not None]
        if not step.keys and len(wheres) == len(step.aggregations):
            self.filters = {
                text for text in self.filters if not all(_implies(where, json.loads(text)) for where in wheres)
            }

    def select(self, step: SelectStep) -> None:
        self.values |= {column.rename: self.value(column.name) for column in step.columns if column.rename}
        self.answer_values = [column.rename or column.name for column in step.columns]

    def value(self, name: str) -> str:
        return self.values.get(name, name)

    def figure(self, fields: Mapping[str, Any]) -> str:
        """A figure or another step, without its own name."""
        fields_alone = {key: part for key, part in fields.items() if key != "name"}
        if fields_alone.get("function") == "correlation":  # of two columns in any order
            pair = sorted((self.value(fields["column"]), self.value(fields["other"])))
            fields_alone["column"], fields_alone["other"] = pair
        return self.expression(fields_alone)

    def expression(self, part: Any) -> str:
        return json.dumps(self.unnamed(part), sort_keys=True, default=str)

    def unnamed(self, part: Any) -> Any:
        """An expression with the values of columns in place of their names."""
        if isinstance(part, Mapping):
            if part.get("kind") == "column":
                return self.value(str(part["name"]))
            if part.get("kind") == "in" and len(part["values"]) == 1:
                literal = {"kind": "literal", "value": part["values"][0]}
                return self.unnamed({"kind": "compare", "op": "=", "left": part["operand"], "right": literal})
            if part.get("kind") == "in":  # of a list in any order
                values = sorted(part["values"], key=repr)
                return {"kind": "in", "operand": self.unnamed(part["operand"]), "values": values}
            if part.get("type") == "datetime" and isinstance(part.get("value"), str):
                return parse_datetime(part["value"]).isoformat()
            return {
                key: self.value(inner) if key in _NAMES and isinstance(inner, str) else self.unnamed(inner)
                for key, inner in part.items()
                if inner is not None
            }
        return [self.unnamed(inner) for inner in part] if isinstance(part, list | tuple) else part

    def conditions(self, condition: Mapping[str, Any]) -> list[str]:
        """The parts of a condition that all have to hold; none where it only leaves out missing values."""
        if condition.get("kind") == "and":
            return [text for part in condition["operands"] for text in self.conditions(part)]
        operand = condition.get("operand")
        if condition.get("kind") == "not" and isinstance(operand, Mapping) and operand.get("kind") == "is_null":
            self.present.add(self.expression(operand["operand"]).strip('"'))
            return []
        return [self.expression(condition)]


def _implies(condition: Any, other: Any) -> bool:
    """Tell if a comparison with a value implies that the value is one of a list."""
    if not (isinstance(condition, Mapping) and isinstance(other, Mapping)) or condition.get("op") != "=":
        return False
    is_list = other.get("kind") == "in" and other.get("operand") == condition.get("left")
    return is_list and condition["right"].get("value") in other["values"]


_NAMES = frozenset({"column", "other", "by"})
"""Fields of figures that hold the name of a column."""
