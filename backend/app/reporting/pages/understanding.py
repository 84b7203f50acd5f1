"""The understanding block: the goal, its reading, and what was settled with the user or by default."""

from app.reporting.document.blocks import UnderstandingBlock
from app.reporting.document.inline_elements import Name, Text
from app.reporting.draft import ReportDraft, join_texts
from app.reporting.evidence import RecordedFact, final_answer, items_at

_PLAN_REVIEW = "review:"
"""Beginning of the key of the question if a plan may be carried out, behind that of its step."""
_ASSENTS = frozenset({"approve", "go on"})
"""Answers that leave the plan as it was."""


def block(draft: ReportDraft) -> UnderstandingBlock | None:
    session = draft.facts.session
    goal = session.at("goal")
    words: Text = (Name(str(goal.value), code=False),) if goal else ()
    return UnderstandingBlock(_sentence(draft), words, [*_readings(draft), *_clarifications(draft)])


def _sentence(draft: ReportDraft) -> Text:
    """Return the recorded reading of the goal; of a session that recorded none, the problem."""
    text = draft.facts.session.at("understanding", "text")
    if text:
        return (draft.read(text, "prose"),)
    problem = draft.facts.problem
    if problem is None or draft.target is None:
        return ()
    return ("Predict ", draft.read(draft.target), ", a problem of ", *draft.render(problem.at("kind")), ".")


def _readings(draft: ReportDraft) -> list[Text]:
    """List interpretations of a question, and columns that the goal could mean instead."""
    readings: list[Text] = [
        (draft.read(reading, "prose"),) for reading in items_at(draft.facts.answer, "readings")
    ]
    others = items_at(draft.facts.session, "understanding", "alternatives")
    if others:
        names = join_texts([(Name(str(other.value)),) for other in others])
        readings.append(("Not taken as the target, though the words would admit it: ", *names, "."))
    return readings


def _clarifications(draft: ReportDraft) -> list[Text]:
    return [
        text
        for question in items_at(draft.facts.session, "questions")
        if (text := _settled_text(draft, question))
    ]


def _settled_text(draft: ReportDraft, question: RecordedFact) -> Text:
    answer = final_answer(question)
    if answer is None or _leaves_plan(question, answer):
        return ()
    source = "Assumed" if question.text("by") == "default" else "Answered"
    return (draft.read(question.at("text") or question, "prose"), f" {source}: ", draft.read(answer), ".")


def _leaves_plan(question: RecordedFact, answer: RecordedFact) -> bool:
    """Tell if a plan was approved as it was: that settles nothing, and the appendix lists it."""
    key = question.text("key").rpartition(".")[2]
    return key.startswith(_PLAN_REVIEW) and answer.value in _ASSENTS
