"""Query plans of programs."""

from collections.abc import Callable

from app.agents.questions.programs.groups import (
    plan_figure_over_groups,
    plan_figures,
    plan_groups,
    plan_number_of_groups,
)
from app.agents.questions.programs.program import Program
from app.agents.questions.programs.program_reading import ProgramReading, read_program
from app.agents.questions.programs.rows import plan_rows, plan_values
from app.agents.questions.question_reading import NotUnderstood, QuestionReading
from app.errors import LabError
from app.plans.compiler import compile_plan
from app.plans.plan import Plan

_PLANS: dict[str, Callable[[ProgramReading], Plan]] = {
    "figures": plan_figures,
    "groups": plan_groups,
    "count_groups": plan_number_of_groups,
    "over": plan_figure_over_groups,
    "rows": plan_rows,
    "values": plan_values,
}


def plan_of(program: Program, reading: QuestionReading) -> Plan:
    """Turn a program into a plan for the tables of a reading, which gets notes on how it is taken.

    Raises NotUnderstood where the tables cannot carry the program out.
    """
    if program.shows == "none":
        raise NotUnderstood("The tables do not hold what is asked for.")
    # A copy: another program of the same reading begins with other conditions and groups.
    own = reading.copy()
    try:
        plan = _PLANS[program.shows](read_program(program, own))
        compile_plan(plan, reading.scope.schemas)
    except (LabError, ValueError, ArithmeticError) as error:
        raise NotUnderstood(f"Its parts do not fit together: {error}") from error
    for note in own.notes:
        reading.note(note)
    return plan
