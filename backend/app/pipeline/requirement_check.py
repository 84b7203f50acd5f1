"""Check of the chosen model against the user's requirements, before the hold-out is opened for it."""

from collections.abc import Iterator

from app.agents.planner.output import Plan
from app.counts import describe_count
from app.errors import InvalidInput
from app.modeling.facts.fits import CandidateFit
from app.modeling.problem.kinds import BASELINE, ENSEMBLE
from app.modeling.problem.problem import Problem
from app.tools.context.tool_context import TrainingContext


def check_requirements(fit: CandidateFit, plan: Plan, training: TrainingContext) -> None:
    """Raise InvalidInput `requirements_not_met` that names every requirement that the model does not meet."""
    breaches = [*_problem_breaches(plan, training.problem), *_fit_breaches(fit, plan, training)]
    if breaches:
        raise InvalidInput("requirements_not_met", f"{fit.name} is not delivered: {' '.join(breaches)}")


def allows_fits_by_entity(plan: Plan, training: TrainingContext) -> bool:
    """Return true if a model may have further fits, of other families, that read the group's name.

    False where the user chose families, a single model or an interpretable one, or keeps the column out.
    """
    is_limited = bool(training.families) or training.is_single_model
    return not is_limited and training.problem.group_column not in plan.exclude


def _problem_breaches(plan: Plan, problem: Problem) -> Iterator[str]:
    if plan.horizon and problem.horizon != plan.horizon:
        yield f"It does not predict {describe_count(plan.horizon, 'row')} ahead."
    if plan.costs and problem.is_binary and problem.costs is None:
        yield "It ignores the costs of errors."


def _fit_breaches(fit: CandidateFit, plan: Plan, training: TrainingContext) -> Iterator[str]:
    problem = training.problem
    # Rows are ordered and grouped by these, whether or not they may be features.
    needed = {problem.target, problem.time_column, problem.group_column}
    forbidden = {*plan.exclude, *problem.exclude} - needed
    if inputs := sorted(forbidden & {str(column["name"]) for column in fit.schema}):
        yield f"It reads {', '.join(inputs)}, which must not be used."
    if fit.metric != problem.metric:
        yield f"It was chosen by {fit.metric} instead of {problem.metric}."
    if training.families:
        candidates = [fit.estimator, *(spec.estimator for spec in fit.candidates or ())]
        strangers = [name for name in candidates if name not in (*training.families, BASELINE, ENSEMBLE)]
        if strangers:
            allowed = " or ".join(training.families)
            yield f"It is made of {', '.join(dict.fromkeys(strangers))}, and only {allowed} may be fitted."
    weighted = [name for name, weight in (fit.weights or {}).items() if weight > 0]
    if training.is_single_model and len(weighted) > 1:
        yield "It blends several candidates, and a single model was asked for."
