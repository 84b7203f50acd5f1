"""The model trainer without a provider: candidates by a table, and what to do when they do not come."""

from typing import Any

from app.agents.folds import fold_order
from app.agents.model_trainer.candidates import LINEAR, choose
from app.agents.model_trainer.output import Trained
from app.agents.runtime.conversation import View
from app.agents.runtime.policy import AgentAction, call, finish, follow
from app.agents.size import Size
from app.modeling.problem.kinds import BASELINE

TRAINING = ("train_classification_model", "train_regression_model")
UNTREATED = "train"


def train(view: View) -> AgentAction | None:
    if view.tried(*TRAINING):
        return None
    brief = view.brief
    size = Size(int(brief["rows"]), int(brief["column_count"]))
    readable = brief.get("model") == "interpretable"
    tail = bool(brief.get("long_tail"))
    time_left_s, hands, planned = float(brief["time_left_s"]), int(brief["hands"]), _planned(view)
    chosen = choose(_kind(view), size, time_left_s, hands, readable, tail, planned)
    names = ", ".join(candidate.get("name", candidate["estimator"]) for candidate in chosen)
    return _train(view, str(view.brief["frame"]), chosen, f"I fit {names}.")


def train_on_plain_frame(view: View) -> AgentAction | None:
    """The first round was refused as a whole: the prepared frame may be at fault."""
    frames = [answered.arguments["frame"] for answered in view.answered if answered.name in TRAINING]
    if view.last(*TRAINING) or UNTREATED in frames or len(frames) != 1:
        return None
    simple = [{"estimator": name} for name in (BASELINE, _simplest(view))]
    return _train(
        view, UNTREATED, simple, "That did not work, so I fit simpler candidates on the rows as they are."
    )


def train_something_real(view: View) -> AgentAction | None:
    """Only the baseline came: one more try with the cheapest real candidate."""
    fits = _fits(view)
    rounds = [answered for answered in view.answered if answered.name in TRAINING]
    if not fits or any(fit["estimator"] != BASELINE for fit in fits) or len(rounds) >= 3:
        return None
    frame = str(rounds[-1].arguments["frame"])
    simplest = [{"estimator": _simplest(view)}]
    return _train(view, frame, simplest, "Only the baseline came; I try the simplest one.")


def conclude(view: View) -> AgentAction:
    fits = _fits(view)
    if not fits:
        refusals = [answered.refusal or "" for answered in view.refused(*TRAINING)]
        return finish(
            Trained(notes=refusals[-1:]), says=f"No candidate could be fitted. {' '.join(refusals[-1:])}"
        )
    notes = [_left_out(entry) for answered in view.all(*TRAINING) for entry in answered.value["left_out"]]
    return finish(Trained(notes=notes), says=" ".join([_standing(fits), *notes]))


RULES = (train, train_on_plain_frame, train_something_real, conclude)
decide = follow(RULES)


def _train(view: View, frame: str, candidates: list[dict[str, Any]], says: str) -> AgentAction:
    """One fold of each: what a few seconds allow, and enough to see which carry weight."""
    return call(
        f"train_{_kind(view)}_model",
        says=says,
        frame=frame,
        candidates=candidates,
        folds=fold_order(view.brief["folds"])[:1],
    )


def _planned(view: View) -> list[str]:
    """The only families that are wanted; none named: any."""
    return list(view.brief.get("families") or ())


def _simplest(view: View) -> str:
    linear, planned = LINEAR[_kind(view)], _planned(view)
    return linear if not planned or linear in planned else planned[0]


def _kind(view: View) -> str:
    return str(view.brief["problem"]["kind"])


def _fits(view: View) -> list[dict[str, Any]]:
    return [fit for answered in view.all(*TRAINING) for fit in answered.value["fits"]]


def _left_out(entry: dict[str, str]) -> str:
    return f"{entry['name']} is left out: {entry['reason']}"


def _standing(fits: list[dict[str, Any]]) -> str:
    scored = [fit for fit in fits if fit["score"] is not None]
    if not scored:
        return "No candidate has a score."
    best = (max if scored[0]["greater_is_better"] else min)(scored, key=lambda fit: fit["score"])
    return f"{best['name']} leads with {best['metric']} {best['score']:.4g} on the first fold."
