"""Rules about the target: which column it is, of what kind, and what a bound of the goal compares."""

from app.agents.goals.clauses import goal_words, has_request
from app.agents.goals.columns.name_score import NAMED_SCORE, WRITTEN_SCORE
from app.agents.goals.columns.target import TargetMatch
from app.agents.goals.phrases.intents import GENERIC
from app.agents.goals.refusals.languages import describe_language_refusal
from app.agents.goals.words.concepts import is_known_word
from app.agents.goals.words.stemming import stem
from app.agents.goals.words.tokenizer import words
from app.agents.planner import clarification
from app.agents.planner.plan import MAX_CLASSES, kind_is_unclear, unused_bound
from app.agents.planner.planner_facts import Situation
from app.agents.planner.rules.plan_request import find_open_phrases, make_plan_request
from app.agents.planner.rules.refusals import refuse
from app.agents.planner.unread_phrases import find_unread_heads
from app.agents.runtime.offline_policy import AgentAction

MIN_EVIDENCE = 2.0
"""Score below which at most a related word speaks for a column."""
MIN_NONSENSE = 0.6
"""Probability from which a goal is refused as no request."""
MAX_SUGGESTED = 5
"""Columns that a refusal suggests, so that it stays a sentence that is read."""
MAX_TARGET_ANSWERS = 3
"""Answers about the target that are tried: who reworded it three times has no fourth wording."""


def refuse_unreadable(situation: Situation) -> AgentAction | None:
    """Refuse a goal in another language that does not name its target, and one that makes no request."""
    match = situation.match
    if situation.target_answers or not match.options or situation.is_stopped:
        return None
    # A likely column is no reading of such a goal: it resembles some word, and the others are not read.
    clearness = match.target.score if match.target else 0.0
    refusal = describe_language_refusal(situation.goal.text)
    if refusal and clearness < NAMED_SCORE:
        return refuse(refusal)
    if situation.aims["nonsense"] >= MIN_NONSENSE and clearness < WRITTEN_SCORE:
        return refuse(f"The words of the goal make no request. {_describe_readings(match)}")
    return None


def ask_for_target(situation: Situation) -> AgentAction | None:
    """Ask for the target, or refuse a goal of which nothing was understood."""
    match, answers = situation.match, situation.target_answers
    if match.target or not match.options or situation.target or situation.is_stopped:
        return None
    if not answers and (reason := _unrelated_reason(situation, match)):
        return refuse(reason)
    if len(answers) >= MAX_TARGET_ANSWERS:
        return refuse(f"{answers[-1]!r} names no column of the tables. {_describe_readings(match)}")
    unread = find_unread_heads(situation.goal, situation.tables)
    reason = clarification.describe_target_reason(match, unread)
    if situation.preferences.clarify == "never":
        return refuse(f"The goal does not determine what to predict. {reason} {_describe_readings(match)}")
    reason = f"{answers[-1]!r} names no column." if answers else reason
    return clarification.ask_target(match, len(situation.tables) > 1, reason)


def _unrelated_reason(situation: Situation, match: TargetMatch) -> str | None:
    """Return that no word of the goal has to do with the tables; None if one has."""
    goal = situation.goal
    evidence = max(option.score for option in match.options)
    if evidence >= MIN_EVIDENCE or has_request(goal.text) or situation.asks_for_model:
        return None
    if any(option.has_evidence for option in match.options):
        return None
    if any(goal.names_no_target(table.subject) for table in situation.tables):
        return None
    table_words = {stem(word) for table in situation.tables for word in words(table.name)} | set(GENERIC)
    content = {stem(word.word) for word in goal_words(goal.text)} - table_words
    if not content or any(map(is_known_word, content)):
        return None
    return f"No word of the goal names a column, a value or anything to predict. {_describe_readings(match)}"


def _describe_readings(match: TargetMatch) -> str:
    suggested = clarification.suggested_targets(match)[:MAX_SUGGESTED]
    if not suggested:
        return "No other column of the tables can be predicted."
    names = ", ".join(f"`{option.column.name}`" for option in suggested)
    return f'Name what to predict, for example one of {names}: "Predict {suggested[0].column.name}".'


def ask_for_kind(situation: Situation) -> AgentAction | None:
    target = situation.target
    # A metric judges one kind of problem only, and so tells it.
    if target is None or situation.preferences.problem or situation.preferences.metric or situation.kind_answer:
        return None
    if situation.target_answers and target.column.distinct > MAX_CLASSES:
        return None  # the goal's own words were about something else
    if not kind_is_unclear(situation.goal, target.column):
        return None
    if situation.preferences.clarify == "never":
        name = target.column.name
        return refuse(f'Is `{name}` a class or an amount? Say "classify {name}" or "how much {name}".')
    return clarification.ask_kind(target.column)


def ask_about_rows(situation: Situation) -> AgentAction | None:
    """Ask which column a value of the goal is one of, where several columns have it."""
    if situation.target is None or situation.preferences.clarify == "never":
        return None
    return next(map(clarification.ask_rows, situation.unanswered_rows), None)


def ask_about_phrases(situation: Situation) -> AgentAction | None:
    """Ask which rows a phrase of the goal means that no part of the plan has."""
    preferences = situation.preferences
    if situation.target is None or preferences.implies_model or preferences.clarify == "never":
        return None
    phrase = next(find_open_phrases(situation, situation.target), None)
    return clarification.ask_phrase(phrase) if phrase else None


def ask_about_bound(situation: Situation) -> AgentAction | None:
    """Ask what a bound of the goal compares that the plan would pass over."""
    target, preferences = situation.target, situation.preferences
    answers = (situation.answer_to(clarification.WHICH_BOUND), situation.kind_answer, situation.target_answers)
    if target is None or any(answers) or preferences.implies_model or preferences.clarify == "never":
        return None
    bound = unused_bound(make_plan_request(situation, target))
    return clarification.ask_bound(target.column, bound, target.table) if bound else None
