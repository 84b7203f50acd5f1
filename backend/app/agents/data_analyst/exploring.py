"""The first stage: look at the training frame, and decide which columns must not be used."""

from typing import Any

from app.agents.data_analyst.output import Analysis
from app.agents.runtime.conversation import View
from app.agents.runtime.policy import AgentAction, Rule, call, finish

LEAVE_OUT, KEEP = "leave them out", "keep them"
MAX_SHOWN = 4


def look(view: View) -> AgentAction | None:
    return None if view.tried("perform_eda") else call("perform_eda", says="I look at the training rows.")


def ask_about_leaks(view: View) -> AgentAction | None:
    """Columns that may give the target away are the user's to judge; certain ones are left out unasked."""
    doubtful = [leak for leak in _leaks(view) if not leak["certain"]]
    if not doubtful or view.tried("ask_user"):
        return None
    return call(
        "ask_user",
        says=" ".join(leak["text"] for leak in doubtful[:MAX_SHOWN]),
        question=f"Will {_columns(doubtful)} be known when the model is used? "
        "If not, they give the answer away and should be left out.",
        options=[LEAVE_OUT, KEEP],
        default=LEAVE_OUT,
    )


def conclude(view: View) -> AgentAction:
    eda = view.last("perform_eda")
    if eda is None:
        refusals = [answered.refusal or "" for answered in view.refused("perform_eda")]
        return finish(Analysis(notes=refusals), says="The data could not be explored; I go on without.")
    certain = [leak for leak in _leaks(view) if leak["certain"]]
    doubtful = [leak for leak in _leaks(view) if not leak["certain"]]
    answer = view.last("ask_user")
    kept = answer is not None and answer.value["answer"] == KEEP
    leaks = certain if kept else certain + doubtful
    exclude = list(dict.fromkeys(leak["column"] for leak in leaks))
    notes = [leak["text"] for leak in leaks]
    return finish(Analysis(exclude=exclude, notes=notes), says=_said(eda.value, exclude))


RULES: tuple[Rule, ...] = (look, ask_about_leaks, conclude)


def _leaks(view: View) -> list[dict[str, Any]]:
    eda = view.last("perform_eda")
    return list(eda.value["leaks"]) if eda else []


def _columns(leaks: list[dict[str, Any]]) -> str:
    return " and ".join(f"`{leak['column']}`" for leak in leaks)


def _said(eda: dict[str, Any], exclude: list[str]) -> str:
    telling = [f["text"] for f in eda["findings"] if f["severity"] != "info"][:MAX_SHOWN]
    left_out = (
        [f"I leave out {', '.join(f'`{name}`' for name in exclude)}: it gives the target away."]
        if exclude
        else []
    )
    return " ".join([*left_out, *telling]) or "Nothing in the data stands out."
