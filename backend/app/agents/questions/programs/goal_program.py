"""The program of a goal: what of a table is predicted, explained or forecast, from which columns and rows.

`predict(fare), without(tip), where(district == 'North')`: corpora write it as programs of questions.
"""

from dataclasses import dataclass
from typing import Literal

from app.agents.questions.programs.program import Condition, ProgramFigure, Term

GoalAim = Literal["predict", "drivers", "forecast", "segment", "explore", "unserved", "nonsense"]


@dataclass(frozen=True)
class GoalProgram:
    """The aim of a goal and its parts.

    `target`: a column, a condition of which it is predicted whether it holds, or, of a forecast, a number of
    rows; None of the aims that have none. `excluded`: columns that the model must not read. `keys`: those that
    tell several series apart. `where`: the rows that count.
    """

    aim: GoalAim
    target: Term | Condition | ProgramFigure | None = None
    excluded: tuple[Term, ...] = ()
    keys: tuple[Term | Condition, ...] = ()
    where: tuple[Condition, ...] = ()
