"""Rules of the assistant about studies of the crew: to start, answer, fork, compare and explain them."""

from app.agents.assistant.brief import ChatBrief
from app.agents.assistant.message_parsing import list_profiles
from app.agents.assistant.studies import requests as study_requests
from app.agents.assistant.studies.descriptions import (
    describe_comparison,
    describe_explanation,
    describe_start,
    describe_study,
)
from app.agents.runtime.conversation import ConversationView
from app.agents.runtime.offline_policy import AgentAction, call, say
from app.tools.context.conversation_studies import STUDY_TOOLS, StudyCard

View = ConversationView[ChatBrief]

_GOES_ON = "The answer was passed on, and the study goes on. Ask for its result at any time."


def conclude_study(view: View) -> AgentAction | None:
    """Say what became of a call about studies."""
    if started := view.last_success("start_study", "fork_study"):
        return say(describe_start(started.read(StudyCard)))
    if view.was_called("answer_study") and (passed := view.last_success("answer_study")):
        card = passed.read(StudyCard)
        return say(f"The answer was passed on. {describe_study(card)}" if card.question else _GOES_ON)
    if read := view.last_success("read_study"):
        return say(describe_study(read.read(StudyCard)))
    if compared := view.last_success("compare_studies"):
        return say(describe_comparison(compared.value))
    if explained := view.last_success("explain_prediction"):
        return say(describe_explanation(explained.value))
    refusals = view.refusals(*STUDY_TOOLS, "compare_studies", "explain_prediction")
    return say(str(refusals[-1].refusal)) if refusals else None


def work_on_studies(view: View) -> AgentAction | None:
    """Start, answer, fork, compare or explain a study."""
    request = study_requests.read_study_message(view.brief, list_profiles(view.brief))
    if request is None:
        return None
    if isinstance(request, study_requests.StudyRefusal):
        return say(request.reason)
    return call(request.tool, **request.arguments)


def answer_in_words(view: View) -> AgentAction | None:
    """Pass a message that is nothing else on to a study that asks for words."""
    request = study_requests.read_free_answer(view.brief)
    return call(request.tool, **request.arguments) if request else None
