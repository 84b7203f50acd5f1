"""Training goals, planned by the offline planner from the outlines of their tables."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from tests.corpora.conversations import run_planner
from tests.corpora.goals import UNREADABLE_AIMS
from tests.corpora.planned_goals import NO_TARGET, Verdict, compares_effects, is_overview, make_schema
from tests.corpora.training import TrainingGoal, TrainingTables

from app.agents.planner.output import Plan


@dataclass(frozen=True)
class PlannedTrainingGoal:
    """Outcome of a goal: the planner's `plan`, or its question."""

    file: TrainingTables
    goal: TrainingGoal
    plan: Plan | None
    question: str = ""

    @property
    def is_unreadable(self) -> bool:
        return self.goal.aim in UNREADABLE_AIMS

    @cached_property
    def verdict(self) -> Verdict:
        if self.plan is None:
            return "may_ask" if self.goal.may_ask else "asked"
        if self.plan.target == NO_TARGET:
            return "right" if self.is_unreadable else "refused"
        return "right" if not self.is_unreadable and self._serves(self.plan) else "wrong"

    def _serves(self, plan: Plan) -> bool:
        """Test if a plan has the aim of the goal and one of its targets. Conditions are not judged."""
        if self.goal.aim in ("explore", "segment"):
            return is_overview(plan)
        if self.goal.aim == "explain_drivers" and compares_effects(plan):
            return plan.target in self.goal.targets
        if self.goal.aim == "question" or plan.question is not None:
            return self.goal.aim == "question" and plan.question is not None and not is_overview(plan)
        if self.goal.aim == "forecast":
            column = plan.aggregation.column or "" if plan.aggregation else plan.target
            return bool(plan.horizon) and (column in self.goal.targets or not (column or self.goal.targets))
        names = {plan.derivation.first, plan.derivation.second} if plan.derivation else {plan.target}
        return not plan.horizon and bool(names & set(self.goal.targets))

    @property
    def outcome(self) -> str:
        if self.plan is None:
            return f"asked: {self.question[:120]}"
        return str(self.plan.model_dump(exclude_defaults=True, exclude={"steps", "parsed_question"}))[:300]


def plan_training_goals(files: Sequence[TrainingTables]) -> list[PlannedTrainingGoal]:
    """Run the offline planner on each goal until its plan or its first question."""
    return [_plan(file, goal) for file in files for goal in file.goals]


def _plan(file: TrainingTables, goal: TrainingGoal) -> PlannedTrainingGoal:
    planned = run_planner(goal.goal, [make_schema(table) for table in file.tables])
    if isinstance(planned, Plan):
        return PlannedTrainingGoal(file, goal, planned)
    return PlannedTrainingGoal(file, goal, None, planned.text)
