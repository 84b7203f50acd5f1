"""Figures of a column for each group of another one: the answer of a question for an effect."""

from collections.abc import Mapping, Sequence

from app.agents.goals.columns.effect_columns import EffectColumns
from app.agents.goals.columns.target import N_STATES
from app.agents.goals.conditions.row_conditions import RowCondition, describe_conditions
from app.agents.goals.tables.ordinal_scales import ordered_values
from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.questions.frames.group_figures import finish_groups
from app.agents.questions.matching.value_matching import flag_values
from app.agents.questions.ordering import Order
from app.agents.questions.parsed_question import ParsedQuestion
from app.agents.questions.quantile_groups import make_classes
from app.agents.questions.question_reading import Value, make_value, place_of_step
from app.agents.questions.rows_plan import Figure, PlanDraft
from app.agents.questions.tables.scope import QuestionScope, Reference, RowSource
from app.plans import build
from app.plans.expressions import Expression, Scalar

MAX_SINGLE_NUMBERS = 8
"""Different numbers that are groups of their own, such as rates of a discount; more are cut into quartiles."""
QUARTILES = 4
"""Groups of a number with more values: enough to see a course, and few enough to be read at a glance."""
_SIGNS: Mapping[str, build.ComparisonSign] = {"above": ">", "at_least": ">=", "below": "<", "at_most": "<="}


def plan_effect(
    columns: EffectColumns,
    tables: Sequence[TableProfile],
    conditions: Sequence[RowCondition] = (),
    positive: Scalar | None = None,
) -> ParsedQuestion | None:
    """Plan the mean or share of the effect and the number of rows, for each group of the cause.

    `positive`: the class of the effect that the question names; None leaves a class that is no yes unplanned.
    """
    scope = QuestionScope(tuple(tables))
    cause, effect = (Reference(columns.table.name, column) for column in (columns.cause, columns.effect))
    measured = _measured_value(effect, positive)
    if measured is None:
        return None
    draft = PlanDraft(RowSource(scope, columns.table.name))
    for condition in conditions:
        draft.keep(_expression(Reference(columns.table.name, Column(condition.column, "", "")), condition))
    draft.keep(build.is_present(effect.expression))
    is_cut = columns.cause.is_number and columns.cause.distinct > MAX_SINGLE_NUMBERS
    figure = Figure("share_true" if measured.type == "boolean" else "mean", measured, label=_label(measured))
    key = make_classes(cause, QUARTILES) if is_cut else make_value(cause)
    finish_groups(draft, [key], [figure, Figure("count")], Order())
    plan = draft.plan()
    return ParsedQuestion(
        plan=plan,
        description=_describe(columns, measured, key, conditions),
        tables=(columns.table.name,),
        columns=(columns.effect.name, columns.cause.name),
        interpretations=tuple(_notes(columns, is_cut)),
        confidence=round(columns.probability, 2),
    )


def _measured_value(effect: Reference, positive: Scalar | None) -> Value | None:
    """The value that is compared: a number, if a class is the positive one, or the place of a step."""
    column = effect.column
    if steps := (None if column.distinct == N_STATES else ordered_values(column)):
        label = f"{column.name} from {steps[0]} (1) to {steps[-1]} ({len(steps)})"
        return Value(place_of_step(effect, steps), label, "integer")
    if column.distinct != N_STATES and column.type != "boolean":
        return make_value(effect) if column.is_number else None
    flags = (0, 1) if column.is_number and (column.low, column.high) == (0, 1) else flag_values(column)
    target_class = positive if positive is not None else flags[1] if flags else None
    if target_class is None:
        return None
    name = column.name if target_class is True else f"{column.name} {target_class}"
    return Value(
        build.compare("=", effect.expression, build.literal(target_class)), f"share of {name}", "boolean"
    )


def _label(measured: Value) -> str:
    return measured.label if measured.type == "boolean" else f"mean {measured.label}"


def _describe(columns: EffectColumns, measured: Value, key: Value, conditions: Sequence[RowCondition]) -> str:
    figure = _label(measured).replace(columns.effect.name, f"`{columns.effect.name}`", 1)
    selected = f", where {describe_conditions(conditions)}" if conditions else ""
    return f"the {figure} and the number of rows for each `{key.label}`{selected}, from `{columns.table.name}`"


def _expression(reference: Reference, condition: RowCondition) -> Expression:
    if condition.operator in ("in", "not_in"):
        is_in_list = build.is_one_of(reference.expression, condition.values)
        return is_in_list if condition.operator == "in" else build.negate(is_in_list)
    return build.compare(_SIGNS[condition.operator], reference.expression, build.literal(condition.values[0]))


def _notes(columns: EffectColumns, is_cut: bool) -> list[str]:
    cause, effect = columns.cause.name, columns.effect.name
    notes = [f"Group 1 has the lowest `{cause}`, group {QUARTILES} the highest."] if is_cut else []
    notes.append(
        f"A difference between groups is no proof that `{cause}` causes it: they may differ in other things"
        f' as well. A model holds the other columns fixed: "What drives {effect}?".'
    )
    return notes
