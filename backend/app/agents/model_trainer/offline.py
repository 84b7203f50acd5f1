"""The offline policy of the model trainer: candidates by a table, and retries with simpler ones."""

from typing import Any

from app.agents.fits import fold_order
from app.agents.model_trainer.candidates import LINEAR_FAMILY, choose_candidates
from app.agents.model_trainer.output import Trained
from app.agents.runtime.conversation import ConversationView
from app.agents.runtime.policy import AgentAction, call, finish, make_policy
from app.agents.size import FrameSize
from app.modeling.problem.kinds import BASELINE

TRAINING_TOOLS = ("train_classification_model", "train_regression_model")
RAW_FRAME = "train"


def train(view: ConversationView) -> AgentAction | None:
    if view.was_called(*TRAINING_TOOLS):
        return None
    brief = view.brief
    size = FrameSize(int(brief["rows"]), int(brief["column_count"]))
    is_interpretable = brief.get("model") == "interpretable"
    has_long_tail = bool(brief.get("long_tail"))
    time_left_s, fit_slots, families = (
        float(brief["time_left_s"]),
        int(brief["hands"]),
        _requested_families(view),
    )
    candidates = choose_candidates(
        _kind(view), size, time_left_s, fit_slots, is_interpretable, has_long_tail, families
    )
    names = ", ".join(candidate.get("name", candidate["estimator"]) for candidate in candidates)
    return _train(view, str(view.brief["frame"]), candidates, f"I fit {names}.")


def retry_on_raw_frame(view: ConversationView) -> AgentAction | None:
    """Retry on the raw frame if the whole first round was refused: the prepared frame may be the cause."""
    frames = [
        completed.arguments["frame"] for completed in view.completed_calls if completed.name in TRAINING_TOOLS
    ]
    if view.last_success(*TRAINING_TOOLS) or RAW_FRAME in frames or len(frames) != 1:
        return None
    candidates = [{"estimator": name} for name in (BASELINE, _simplest_family(view))]
    return _train(
        view, RAW_FRAME, candidates, "The fits were refused. I fit simpler candidates on the unprepared rows."
    )


def train_simplest_model(view: ConversationView) -> AgentAction | None:
    """Train the simplest family if only the baseline could be fitted."""
    fits = _fits(view)
    rounds = [completed for completed in view.completed_calls if completed.name in TRAINING_TOOLS]
    if not fits or any(fit["estimator"] != BASELINE for fit in fits) or len(rounds) >= 3:
        return None
    frame = str(rounds[-1].arguments["frame"])
    candidates = [{"estimator": _simplest_family(view)}]
    return _train(view, frame, candidates, "Only the baseline could be fitted. I try the simplest candidate.")


def conclude(view: ConversationView) -> AgentAction:
    fits = _fits(view)
    if not fits:
        refusals = [completed.refusal or "" for completed in view.refusals(*TRAINING_TOOLS)]
        return finish(
            Trained(notes=refusals[-1:]), message=f"No candidate could be fitted. {' '.join(refusals[-1:])}"
        )
    notes = [
        _describe_omission(entry)
        for completed in view.successes(*TRAINING_TOOLS)
        for entry in completed.value["left_out"]
    ]
    return finish(Trained(notes=notes), message=" ".join([_describe_leader(fits), *notes]))


RULES = (train, retry_on_raw_frame, train_simplest_model, conclude)
decide = make_policy(RULES)


def _train(view: ConversationView, frame: str, candidates: list[dict[str, Any]], says: str) -> AgentAction:
    """Train one fold of each candidate: it fits a short budget and is enough for first ensemble weights."""
    return call(
        f"train_{_kind(view)}_model",
        message=says,
        frame=frame,
        candidates=candidates,
        folds=fold_order(view.brief["folds"])[:1],
    )


def _requested_families(view: ConversationView) -> list[str]:
    """Return the families that the plan is limited to; empty for no limit."""
    return list(view.brief.get("families") or ())


def _simplest_family(view: ConversationView) -> str:
    linear, families = LINEAR_FAMILY[_kind(view)], _requested_families(view)
    return linear if not families or linear in families else families[0]


def _kind(view: ConversationView) -> str:
    return str(view.brief["problem"]["kind"])


def _fits(view: ConversationView) -> list[dict[str, Any]]:
    return [fit for completed in view.successes(*TRAINING_TOOLS) for fit in completed.value["fits"]]


def _describe_omission(entry: dict[str, str]) -> str:
    return f"{entry['name']} is left out: {entry['reason']}"


def _describe_leader(fits: list[dict[str, Any]]) -> str:
    scored = [fit for fit in fits if fit["score"] is not None]
    if not scored:
        return "No candidate has a score."
    best = (max if scored[0]["greater_is_better"] else min)(scored, key=lambda fit: fit["score"])
    return f"{best['name']} leads with {best['metric']} {best['score']:.4g} on the first fold."
