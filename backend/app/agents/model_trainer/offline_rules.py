"""The offline policy of the model trainer: candidates by a table, and retries with simpler ones."""

from collections.abc import Sequence

from app.agents.fit_summaries import RoundFacts, fold_order, read_rounds
from app.agents.frame_size import FrameSize
from app.agents.model_trainer.brief import TrainerBrief
from app.agents.model_trainer.candidates import CandidateRequest, choose_candidates
from app.agents.model_trainer.output import Trained
from app.agents.runtime.conversation import ConversationView
from app.agents.runtime.offline_policy import AgentAction, call, finish, make_policy
from app.agents.state import LeftOut
from app.modeling.facts.conversion import parse_facts
from app.modeling.facts.fits import FitSummary
from app.modeling.problem.family_catalog import LINEAR_FAMILY
from app.modeling.problem.kinds import BASELINE

TRAINING_TOOLS = ("train_classification_model", "train_regression_model")
RAW_FRAME = "train"


def train(view: ConversationView[TrainerBrief]) -> AgentAction | None:
    if view.was_called(*TRAINING_TOOLS):
        return None
    brief = view.brief
    candidates = choose_candidates(
        brief.problem.kind,
        FrameSize(brief.rows, brief.column_count, brief.slowness),
        brief.time_left_s,
        brief.fit_slots,
        is_interpretable=brief.model == "interpretable",
        has_long_tail=brief.has_long_tail,
        families=brief.families,
    )
    names = ", ".join(candidate.name or candidate.estimator for candidate in candidates)
    return _train(view, brief.frame, candidates, f"I fit {names}.")


def retry_on_raw_frame(view: ConversationView[TrainerBrief]) -> AgentAction | None:
    """Retry on the raw frame if the whole first round was refused: the prepared frame may be the cause."""
    frames = [
        completed.arguments["frame"] for completed in view.completed_calls if completed.name in TRAINING_TOOLS
    ]
    if view.last_success(*TRAINING_TOOLS) or RAW_FRAME in frames or len(frames) != 1:
        return None
    candidates = [CandidateRequest(name) for name in (BASELINE, _simplest_family(view))]
    return _train(
        view, RAW_FRAME, candidates, "The fits were refused. I fit simpler candidates on the unprepared rows."
    )


def train_simplest_model(view: ConversationView[TrainerBrief]) -> AgentAction | None:
    """Train the simplest family if only the baseline could be fitted."""
    fits = _rounds(view).fits
    rounds = [completed for completed in view.completed_calls if completed.name in TRAINING_TOOLS]
    if not fits or any(fit.estimator != BASELINE for fit in fits) or len(rounds) >= 3:
        return None
    frame = str(rounds[-1].arguments["frame"])
    candidates = [CandidateRequest(_simplest_family(view))]
    return _train(view, frame, candidates, "Only the baseline could be fitted. I try the simplest candidate.")


def conclude(view: ConversationView[TrainerBrief]) -> AgentAction:
    rounds = _rounds(view)
    if not rounds.fits:
        refusals = [completed.refusal or "" for completed in view.refusals(*TRAINING_TOOLS)]
        return finish(
            Trained(notes=refusals[-1:]), message=f"No candidate could be fitted. {' '.join(refusals[-1:])}"
        )
    notes = [_describe_omission(entry) for entry in rounds.left_out]
    return finish(Trained(notes=notes), message=" ".join([_describe_leader(rounds.fits), *notes]))


RULES = (train, retry_on_raw_frame, train_simplest_model, conclude)
decide = make_policy(RULES, lambda brief: parse_facts(TrainerBrief, brief))


def _train(
    view: ConversationView[TrainerBrief], frame: str, candidates: Sequence[CandidateRequest], message: str
) -> AgentAction:
    """Train one fold of each candidate: it fits a short budget and is enough for first ensemble weights."""
    return call(
        f"train_{view.brief.problem.kind}_model",
        message=message,
        frame=frame,
        candidates=[candidate.to_json() for candidate in candidates],
        folds=fold_order(view.brief.folds)[:1],
    )


def _simplest_family(view: ConversationView[TrainerBrief]) -> str:
    linear, families = LINEAR_FAMILY[view.brief.problem.kind], view.brief.families
    return linear if not families or linear in families else families[0]


def _rounds(view: ConversationView[TrainerBrief]) -> RoundFacts:
    return read_rounds(completed.value for completed in view.successes(*TRAINING_TOOLS))


def _describe_omission(entry: LeftOut) -> str:
    return f"{entry.name} is left out: {entry.reason}"


def _describe_leader(fits: Sequence[FitSummary]) -> str:
    scores = [(fit.score, fit) for fit in fits if fit.score is not None]
    if not scores:
        return "No candidate has a score."
    score, best = (max if fits[0].greater_is_better else min)(scores, key=lambda scored: scored[0])
    return f"{best.name} leads with {best.metric} {score:.4g} on the first fold."
