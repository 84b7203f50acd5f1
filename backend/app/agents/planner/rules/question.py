"""Plans for goals that are questions about the data, answered from the tables without a model."""

import re
from collections.abc import Sequence

from app.agents.goals.clauses import scores_rows
from app.agents.goals.phrases.past_spans import asks_about_past_span
from app.agents.goals.phrases.trading_terms import names_barriers
from app.agents.goals.refusals.languages import describe_language_refusal
from app.agents.goals.tables.profiles import TableProfile
from app.agents.goals.words.tokenizer import words
from app.agents.planner.output import Plan, Understanding
from app.agents.planner.planner_facts import Situation
from app.agents.planner.step_descriptions import describe_steps
from app.agents.planner.unrecorded_times import asks_after_last_row
from app.agents.questions.charts.chart_questions import parse_chart_question
from app.agents.questions.composition.plans.verdicts import has_verdict
from app.agents.questions.items import QuestionItem
from app.agents.questions.marking.mark_items import mark_items
from app.agents.questions.parsed_question import ParsedQuestion, UnparsedQuestion
from app.agents.questions.parser import is_question, judges_a_model, parse_question
from app.agents.questions.question_cues import NOT_OF_DATA
from app.agents.runtime.offline_policy import AgentAction, call, finish

WHICH_QUESTION = "How is the question meant?"
END, MODEL = "nothing, end here", "predict a column instead"
MAX_NOTES = 20
"""Notes of a plan."""
MAX_QUESTIONS = 3
"""Attempts at a question that is not understood: a user who rephrased it three times has no fourth wording."""


def ask_or_answer(situation: Situation) -> AgentAction | None:
    """Plan the answer of a question, or ask about it if it was not understood."""
    goal, tables = situation.goal.text, situation.tables
    if not tables or situation.preferences.implies_model or names_barriers(goal):
        return None
    answers = situation.answers_to(WHICH_QUESTION)
    if MODEL in answers or (not answers and _bounds_column_alone(goal, tables)):
        return None
    # A chart is asked for by its name, however improbable a question is otherwise.
    if action := _plan_chart(situation, answers[-1] if answers else goal):
        return action
    probability = 1.0 if answers else _question_probability(situation)
    if probability < MIN_QUESTION and not _is_doubted(situation, probability):
        return _answer_if_clear(situation, probability)
    # An offered reading is taken as it was offered: parsed again, its description might be read otherwise.
    if answers and (ending := _read_choice(goal, answers, tables)):
        return ending
    question = answers[-1] if answers else goal
    parsed = parse_question(question, tables)
    if isinstance(parsed, ParsedQuestion):
        return plan_answer(question, parsed, tables)
    if probability < MIN_ASKED_QUESTION and not _is_doubted(situation, probability):
        return None  # a goal about a model of its target
    # Where words were answered, they were about a question: it is not taken for a model any more.
    if not answers and _is_rather_a_model(situation):
        return None
    # A rephrased question would be as foreign, so it is not asked for.
    if refusal := describe_language_refusal(goal):
        return finish(Plan(target="?", is_understood=False, notes=[refusal]))
    return _refuse(goal, parsed) if len(answers) >= MAX_QUESTIONS else _ask(parsed)


def _plan_chart(situation: Situation, text: str) -> AgentAction | None:
    """Plan the answer of a text that asks for a chart of stored rows: a forecast may be drawn too."""
    if _looks_ahead(situation) or situation.goal.excluded_phrases:
        return None
    parsed = parse_chart_question(text, situation.tables)
    return plan_answer(text, parsed, situation.tables) if parsed else None


def _ask(parsed: UnparsedQuestion) -> AgentAction:
    """Ask how a question is meant: by its nearest readings, or without any by other questions."""
    readings = [reading.description for reading in parsed.readings]
    return call(
        "ask_user",
        message="The goal asks about the data, and parts of it are not understood.",
        question=f"{WHICH_QUESTION} {parsed.reason} Choose one of these, or rephrase the question.",
        options=[*(readings or dict.fromkeys(parsed.options)), MODEL, END],
        default=END,
        free_text=True,
    )


def _read_choice(goal: str, answers: Sequence[str], tables: Sequence[TableProfile]) -> AgentAction | None:
    """Carry out an answer that is one of what was offered for the wording before it; None for another one."""
    before = parse_question([goal, *answers][-2], tables)
    if not isinstance(before, UnparsedQuestion):
        return None
    if answers[-1] == END:
        return _refuse(goal, before)
    reading = before.find_reading(answers[-1])
    return plan_answer(goal, reading, tables) if reading else None


def _is_doubted(situation: Situation, probability: float) -> bool:
    """Tell if a goal may be a question, and nothing in it asks for a model, such as a column to leave out.

    A column by its whole name counts where a question is not likelier than not: `Sage den Preis voraus`.
    """
    goal, target = situation.goal, situation.target
    names_target = target is not None and "".join(words(target.column.name)) in words(goal.text)
    names_model = _looks_ahead(situation) or bool(goal.excluded_phrases)
    if names_model or (names_target and probability < MIN_QUESTION):
        return False
    return probability >= MIN_DOUBTED_QUESTION


def _is_rather_a_model(situation: Situation) -> bool:
    """Tell if a goal that cannot be answered as a question is likelier a model of a target that it names."""
    if _is_asked_outright(situation) or _names_single_row(situation):
        return False
    aims = situation.aims
    model = aims["predict"] + aims["drivers"] + aims["forecast"]
    return (
        situation.target is not None
        and aims["question"] < _MIN_MODEL_LEAD * model
        and not _asks_about_past(situation.goal.text)
    )


def _answer_if_clear(situation: Situation, probability: float) -> AgentAction | None:
    """Plan the answer of a goal that no word marks as a question, if all its words make one figure."""
    if probability < MIN_UNSIGNED_QUESTION or _looks_ahead(situation):
        return None
    parsed = _read_clear_figure(situation)
    return plan_answer(situation.goal.text, parsed, situation.tables) if parsed else None


def _read_clear_figure(situation: Situation) -> ParsedQuestion | None:
    """Read a goal whose words all make one figure of the stored rows; None for others, and for later times."""
    parsed = parse_question(situation.goal.text, situation.tables)
    if not isinstance(parsed, ParsedQuestion) or parsed.is_by_decoder:
        return None
    # A yes or no about two groups of stored rows is a figure of them, and no effect to explain.
    min_confidence = MIN_VERDICT_CONFIDENCE if has_verdict(parsed.plan) else MIN_CLEAR_CONFIDENCE
    if parsed.confidence < min_confidence:
        return None
    return None if asks_after_last_row(parsed, situation.tables) else parsed


MIN_UNSIGNED_QUESTION, MIN_CLEAR_CONFIDENCE, MIN_VERDICT_CONFIDENCE = 0.05, 0.7, 0.55
"""Probability of a question, and confidence in its reading, from which a goal without any word of a question is
answered: `trips in July`; the same of a comparison of two groups: `do women wait longer than men`."""
MIN_QUESTION, MIN_ASKED_QUESTION = 0.45, 0.5
"""Probability of a question from which a parsed one is answered, and from which one that is not understood is
asked about: below, a prediction is likelier."""
MIN_DOUBTED_QUESTION = 0.25
"""Probability of a question from which a goal without any word of a prediction is not taken for one unasked: of
the tuned questions that became models most lie above, of the goals of models that were planned right none."""
_MIN_SIGNED_QUESTION = 0.2
"""Probability from which the words that questions begin with decide: a clear prediction may have them too."""
_MIN_CLEAR_QUESTION = 0.9
"""Probability of a question from which a horizon is a period of the stored rows: `orders per month in 2022`."""
_NO_QUESTION = 0.15
"""Factor of the probability where the goal names a prediction by its verb or by a horizon."""


def _question_probability(situation: Situation) -> float:
    """Return the probability that the goal asks for figures of stored rows."""
    goal = situation.goal
    probability = situation.aims["question"]
    if scores_rows(goal.text):
        return min(probability, MIN_DOUBTED_QUESTION)
    if _is_asked_outright(situation):
        return max(probability, MIN_ASKED_QUESTION)
    if _describes_rows(situation):
        return max(probability, MIN_ASKED_QUESTION)
    # "Who survived? Ignore the cabin" leaves a column out of a model, unless it is clearly a question.
    if goal.excluded_phrases and probability < _MIN_CLEAR_QUESTION:
        return probability * _NO_QUESTION
    if is_question(goal.text):
        is_asked = probability >= _MIN_SIGNED_QUESTION or _asks_about_past(goal.text)
        return max(probability, MIN_ASKED_QUESTION if is_asked else 0.0)
    is_clear = probability >= _MIN_CLEAR_QUESTION and not (situation.goal.metric and _names_metric(situation))
    return probability * (_NO_QUESTION if _looks_ahead(situation) and not is_clear else 1.0)


_ASKED_OUTRIGHT = re.compile(
    r"^\W*(?:(?:in|on|at|for|by|to|from|with|of) )?"
    r"(?:which|who|whom|whose|what|where|when|how (?:many|much|often|old|long|far|tall|big)"
    r"|do|does|did|is|are|was|were|has|have)\b|^\W*(?:all )?[a-z]{3,30}s (?:that|with|without|whose)\b",
    re.IGNORECASE,
)
"""First words of questions, and of phrases that tell rows apart (`lines without a receipt`)."""


_COUNTED_OUTRIGHT = re.compile(
    r"^\W*(?:(?:in|on|at|for|by|to|from|with|of) )?how"
    r" (?:many(?! (?:minutes|hours|days|weeks|months|years)\b)|often)\b|^\W*(?:are|were|did|do) all\b"
    r"|^\W*what (?:\w{2,30} )?(?:do|did) (?:they|we)\b|^\W*\w{2,30}(?: \w{2,30})? (?:split|breakdown)\W*$",
    re.IGNORECASE,
)
"""First words of questions that no model answers: `in how many reports is the risk missing`. A number of days
may be predicted: `how many days does a repair take`."""
_FUTURE = re.compile(
    r"\b(?:will|would|should|going to|next|tomorrow|future|coming|expect\w*|likely|need\w*)\b", re.IGNORECASE
)
"""Words by which even a number that is asked for is one of the future."""


def _is_asked_outright(situation: Situation) -> bool:
    """Tell if a goal begins as a question about the rows and nothing in it looks ahead.

    Where such a goal is not understood, it is asked about: a model would answer another question.
    """
    text, goal = situation.goal.text, situation.goal
    if goal.excluded_phrases or _looks_ahead(situation):
        return False
    # "Build a classifier of churn with the last 12 months as history" asks for a model of stored rows.
    if asks_for_figure(text) or (asks_about_past_span(text) and not situation.asks_for_model):
        return True
    if situation.aims["question"] < _MIN_OUTRIGHT_QUESTION:
        return False
    return bool(_ASKED_OUTRIGHT.search(text)) and not _goes_beyond_data(situation)


def asks_for_figure(text: str) -> bool:
    """Test if a goal begins as a question that no model answers, and names nothing of the future."""
    return bool(_COUNTED_OUTRIGHT.search(text)) and not _FUTURE.search(text)


_COMPARES = re.compile(
    r"\b(?:(?:more|less|fewer|older|younger|longer|shorter|higher|lower|larger|smaller|bigger|heavier|lighter"
    r"|later|earlier|greater|cheaper) than|above|below|under|over|at least|at most|exceeding)"
    r" (?:[$\u20ac\u00a3] ?)?(?:\d|an? |half|one|two|three|four|five|ten)"
    r"|\b(?:an?|one|two|\d+) \w{1,20} or more\b"
    r"|^\W*(?:first|last|latest|newest|oldest) \w{1,20} \w",
    re.IGNORECASE,
)
"""Comparisons with numbers, which tell rows apart."""
_MIN_DESCRIBED_QUESTION = 0.1
"""Probability of a question below which a condition belongs to the rows that a model is trained on."""
MIN_SPELLED_SCORE = 0.98
"""Score of a stored value that a goal spells out."""


def _describes_rows(situation: Situation) -> bool:
    """Tell if a goal names no prediction, but rows by a comparison or a stored value: `runs above 60`."""
    text, goal = situation.goal.text, situation.goal
    if goal.excluded_phrases or _looks_ahead(situation) or _goes_beyond_data(situation):
        return False
    if _names_single_row(situation):
        return True
    if situation.aims["question"] < _MIN_DESCRIBED_QUESTION:
        return False
    if _COMPARES.search(text):
        return True
    return any(
        len(item.text) > 1 and not (item.columns or item.row_tables)
        for item in spelled_values(situation.goal.text, situation.tables)
    )


def _bounds_column_alone(text: str, tables: Sequence[TableProfile]) -> bool:
    """Test if a goal is a number of a table and a bound of it: "salary above 80000" is what is predicted.

    "Staff with a salary above 80000" names the rows.
    """
    comparison = _COMPARES.search(text)
    if comparison is None:
        return False
    name = words(text[: comparison.start()])
    behind = words(text[comparison.end() :].lstrip("0123456789.,"))
    measured = any(
        words(column.name) == name for table in tables for column in table.columns if column.is_number
    )
    return measured and len(behind) <= MAX_UNIT_WORDS


MAX_UNIT_WORDS = 1
"""Words behind the number of a bound: its unit."""


def spelled_values(text: str, tables: Sequence[TableProfile]) -> list[QuestionItem]:
    """Return the words of a goal that spell a stored value out."""
    items = mark_items(text, tables).items
    return [item for item in items if item.values and item.values[0].score >= MIN_SPELLED_SCORE]


_MIN_NAMING_SHARE = 0.9
"""Different values by rows from which a text names single rows, a few of which share a name."""


def _names_single_row(situation: Situation) -> bool:
    """Tell if a goal names a stored row and no prediction: `the boiling point of gold` is stored."""
    if situation.goal.excluded_phrases or _looks_ahead(situation) or _goes_beyond_data(situation):
        return False
    rows = {table.name: table.rows for table in situation.tables}
    matches = [
        item.values[0] for item in spelled_values(situation.goal.text, situation.tables) if not item.row_tables
    ]
    return any(
        match.column.type == "text" and match.column.distinct >= _MIN_NAMING_SHARE * rows[match.table]
        for match in matches
    )


def _goes_beyond_data(situation: Situation) -> bool:
    """Tell if a goal has words that go beyond the stored rows, and are no names of columns: a `driver`."""
    names = {word for table in situation.tables for c in table.columns for word in words(c.name)}
    remaining = (w for w in situation.goal.text.split() if w.casefold().strip(",.?!:") not in names)
    return bool(NOT_OF_DATA.search(" ".join(remaining)))


_MIN_MODEL_LEAD = 0.6
"""Share of the probability of a model below which a goal that no question answers is planned as one: between
this and 1 it is asked about."""
_MIN_OUTRIGHT_QUESTION = 0.15
"""Probability of a question below which first words such as `which` and `who` begin a prediction: of the tuned
goals that begin so, all predictions lie below."""


_ASKS_ABOUT_PAST = re.compile(
    r"^\W*(?:(?:in|on|at|for|by|to|from|with|of) )?(?:who|what|which|when|where|how)\b[^?]{0,40}"
    r"\b(?:was|were|did|had|ha(?:ve|s) (?:never|not|been|ever))\b[^?]{1,300}\?\W*$",
    re.IGNORECASE,
)
"""Questions of which a prediction would be no answer, even where nothing in the tables answers them."""


def _asks_about_past(text: str) -> bool:
    return bool(_ASKS_ABOUT_PAST.search(text))


def _looks_ahead(situation: Situation) -> bool:
    goal = situation.goal
    names_metric = bool(goal.metric) and _names_metric(situation)
    if scores_rows(goal.text):
        return True
    return bool(goal.after_verb or goal.lookahead or names_metric or goal.wants_drivers or "~" in goal.text)


def _names_metric(situation: Situation) -> bool:
    """Tell if a goal names a metric by a word that is no column: `fscore` may be one."""
    names = {column.name.casefold() for table in situation.tables for column in table.columns}
    remaining = (word for word in situation.goal.text.split() if word.casefold().strip(",.?!:") not in names)
    return judges_a_model(" ".join(remaining))


def is_sure_figure(situation: Situation) -> bool:
    """Tell if a goal without any word of a prediction is read as one figure of the stored rows."""
    if _looks_ahead(situation) or NOT_OF_DATA.search(situation.goal.text):
        return False
    if situation.aims["question"] < MIN_UNSIGNED_QUESTION:
        return False
    return _read_clear_figure(situation) is not None


def _refuse(goal: str, parsed: UnparsedQuestion) -> AgentAction:
    nearest = f" The nearest reading is: {parsed.readings[0].description}." if parsed.readings else ""
    note = f"The question was not understood: {parsed.reason}{nearest}"
    return finish(Plan(target="?", question=goal, notes=[note]))


def plan_answer(question: str, parsed: ParsedQuestion, tables: Sequence[TableProfile]) -> AgentAction:
    """Make the plan of a parsed question. Its target is the first column that the question names."""
    table = next(table for table in tables if table.name == parsed.tables[0])
    message = f"I will answer with {parsed.description}."
    plan = Plan(
        question=question,
        parsed_question=parsed,
        tables=[*parsed.tables],
        target=parsed.columns[0] if parsed.columns else table.columns[0].name,
        notes=[*parsed.interpretations][:MAX_NOTES],
        understanding=Understanding(text=message, confidence=parsed.confidence),
    )
    return finish(plan.model_copy(update={"steps": describe_steps(plan)}), message=message)
