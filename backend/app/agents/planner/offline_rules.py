"""The offline policy of the planner: read tables and goal, ask about what remains open, then plan."""

from collections.abc import Sequence

from langchain_core.messages import BaseMessage

from app.agents.goals.clauses import goal_words, has_request
from app.agents.goals.columns import named_columns
from app.agents.goals.columns.target import ScoredColumn, TargetMatch
from app.agents.goals.periods.vocabulary import AHEAD
from app.agents.goals.phrases.intents import GENERIC
from app.agents.goals.phrases.patterns import VERB
from app.agents.goals.refusals.languages import REFUSALS, foreign_language
from app.agents.goals.refusals.spelled_out_procedures import find_procedure
from app.agents.goals.refusals.unserved_requests import find_unserved
from app.agents.goals.series.period_forecast import PeriodForecast
from app.agents.goals.series.period_forecast_search import find_period_forecast
from app.agents.goals.tables.profiles import Column, mentioned_tables
from app.agents.goals.words.concepts import is_known_word
from app.agents.goals.words.stemming import stem
from app.agents.goals.words.tokenizer import words
from app.agents.planner import clarification, overview_plan, price_questions, question_plan
from app.agents.planner.output import Plan
from app.agents.planner.period_plan import make_period_plan
from app.agents.planner.plan import MAX_CLASSES, PlanRequest, kind_is_unclear, make_plan, unused_bound
from app.agents.planner.planner_facts import Situation
from app.agents.planner.preferences import PlannerBrief, PlanPreferences
from app.agents.planner.stored_prices import PRICES, PRICES_TOOL, bar_seconds
from app.agents.planner.trading import add_trading_terms
from app.agents.planner.understanding import describe_prediction, understand_prediction
from app.agents.runtime.conversation import ConversationView, read_conversation
from app.agents.runtime.offline_policy import AgentAction, call, finish, make_view_policy

NO_COLUMN = "None of the tables has a column that can be predicted."


def list_tables(situation: Situation) -> AgentAction | None:
    if situation.view.was_called("list_datasets"):
        return None
    return call("list_datasets", message="I list the tables.")


def read_schemas(situation: Situation) -> AgentAction | None:
    """Read the schemas of all unread tables, in one action."""
    requests = [
        completed.arguments
        for completed in situation.view.completed_calls
        if completed.name == "get_dataset_schema"
    ]
    unread = [{"dataset": name} for name in situation.table_names if {"dataset": name} not in requests]
    return AgentAction(tuple(("get_dataset_schema", request) for request in unread)) if unread else None


def list_prices(situation: Situation) -> AgentAction | None:
    """List the stored prices if there is no table."""
    return None if situation.table_names or situation.view.was_called(PRICES_TOOL) else call(PRICES_TOOL)


def ask_about_preferences(situation: Situation) -> AgentAction | None:
    """Ask about a preference that names no column. Preferences are never guessed."""
    unknown = situation.resolved.unknown
    return clarification.ask_preference(unknown[0]) if unknown and situation.tables else None


def refuse_unserved(situation: Situation) -> AgentAction | None:
    """Refuse a request that is not served, unless the goal also asks for a prediction."""
    goal = situation.goal.text
    if not situation.tables or situation.preferences.implies_model or VERB.search(goal):
        return None
    if (unserved := find_unserved(goal)) and situation.aims["unserved"] >= MIN_SIGNED_UNSERVED:
        return _refuse(f"{unserved.sentence}{_AS_WORKFLOW if unserved.has_workflow else ''}")
    return _refuse(_NOT_SERVED) if situation.aims["unserved"] >= MIN_UNSERVED else None


def refuse_procedure(situation: Situation) -> AgentAction | None:
    """Refuse a spelled-out procedure that no query answers: a model was not asked for in its place."""
    wants_model = question_plan.MODEL in situation.answers_to(question_plan.WHICH_QUESTION)
    if not situation.tables or situation.preferences.implies_model or wants_model:
        return None
    procedure = find_procedure(situation.goal.text)
    return _refuse(_NO_PROCEDURE.format(procedure)) if procedure else None


_AS_WORKFLOW = (
    " Or say this in a conversation (Chat in the page, `labcrew chat`): there it becomes a workflow for you to"
    " approve."
)
_NO_PROCEDURE = (
    "The goal spells out a procedure ({!r}), and without a chat model none is followed to the letter. Set the"
    " key of a chat model, run the steps yourself (`PYTHON:` in `labcrew chat`), or ask for a prediction:"
    " `Predict ...`."
)


MIN_SIGNED_UNSERVED = 0.3
"""Probability of a request that is not served from which its verb decides: "warn when dust goes past 40" asks
for a prediction."""
MIN_UNSERVED, MIN_NONSENSE = 0.7, 0.6
"""Probabilities from which a goal is refused as a request of another kind, and as no request: a prediction that
is refused costs its user more than a question."""
_NOT_SERVED = (
    "The goal asks for something that Labcrew does not do. It predicts, explains and forecasts columns of your"
    " tables, describes them, and answers questions about their rows: ask for one of these."
)


MIN_EVIDENCE = 2.0
"""Score below which at most a related word speaks for a column."""
MAX_TARGET_ANSWERS = 3
"""Answers about the target that are tried: who reworded it three times has no fourth wording."""


def ask_for_target(situation: Situation) -> AgentAction | None:
    """Ask for the target, or refuse a goal of which nothing was understood."""
    match, answers = situation.match, situation.target_answers
    if match.target or not match.options or situation.target or situation.is_stopped:
        return None
    if not answers and (reason := _unreadable_reason(situation, match)):
        return _refuse(reason)
    if len(answers) >= MAX_TARGET_ANSWERS:
        return _refuse(f"{answers[-1]!r} names no column of the tables. {_describe_readings(match)}")
    if situation.preferences.clarify == "never":
        return _refuse(f"The goal does not determine what to predict. {_describe_readings(match)}")
    refused_answer = answers[-1] if answers else None
    return clarification.ask_target(match, len(situation.tables) > 1, refused_answer)


def _unreadable_reason(situation: Situation, match: TargetMatch) -> str | None:
    """Return why nothing of the goal was understood; None if a word of it means something here."""
    goal = situation.goal
    evidence = max(option.score for option in match.options)
    if language := foreign_language(goal.text):
        return f"{REFUSALS[language]} (The goal is not in English and names no column.)"
    if situation.aims["nonsense"] >= MIN_NONSENSE:
        return f"The words of the goal make no request. {_describe_readings(match)}"
    if evidence >= MIN_EVIDENCE or has_request(goal.text) or _asks_for_a_model(situation):
        return None
    if any(option.has_evidence for option in match.options):
        return None
    if any(goal.names_no_target(table.name) for table in situation.tables):
        return None
    table_words = {stem(word) for table in situation.tables for word in words(table.name)} | set(GENERIC)
    content = {stem(word.word) for word in goal_words(goal.text)} - table_words
    if not content or any(map(is_known_word, content)):
        return None
    return f"No word of the goal names a column, a value or anything to predict. {_describe_readings(match)}"


MIN_MODEL = 0.7
"""Probability of a prediction from which a goal without a word of the tables is asked about and not refused."""


def _asks_for_a_model(situation: Situation) -> bool:
    aims = situation.aims
    return aims["predict"] + aims["drivers"] + aims["forecast"] >= MIN_MODEL


def _describe_readings(match: TargetMatch) -> str:
    names = ", ".join(f"`{option.column.name}`" for option in match.options[:5])
    return f'Name what to predict, for example one of {names}: "Predict {match.options[0].column.name}".'


def _refuse(reason: str) -> AgentAction:
    return finish(Plan(target="?", is_understood=False, notes=[reason]))


MIN_FORECAST = 0.7
"""Probability from which a goal is a forecast, whatever its words: clearly more than the even chance."""


MIN_FIGURE = 0.8
"""Probability of a question from which a month or a year in a goal is one of the stored rows."""


def plan_period_forecast(situation: Situation) -> AgentAction | None:
    """Plan the forecast of transactions that are counted or summed by period.

    A counted horizon ahead (`the next 10 days`) is no period of stored rows: what looks like a question of
    figures is then one of their forecast.
    """
    counts_ahead = situation.goal.lookahead is not None and bool(AHEAD.search(situation.goal.text))
    figure, forecast = situation.aims["question"], situation.aims["forecast"]
    if counts_ahead:
        figure, forecast = 0.0, forecast + figure
    is_figure = figure >= MIN_FIGURE and not _names_year_ahead(situation)
    if situation.preferences.implies_model or is_figure:
        return None
    tables = [table for table in situation.tables if table is not PRICES]
    candidates = (
        find_period_forecast(
            situation.goal,
            table,
            [other for other in tables if other is not table],
            # Which of several dates a counted horizon is counted in is asked about.
            forecast >= MIN_FORECAST and not (situation.goal.lookahead and len(table.dates) > 1),
        )
        for table in tables
    )
    forecasts = [forecast for forecast in candidates if forecast]
    if len(forecasts) > 1:
        forecasts = _select_forecasts(situation, forecasts)
    if len(forecasts) != 1 or (not counts_ahead and question_plan.is_sure_figure(situation)):
        return None
    plan = make_period_plan(forecasts[0], situation.resolved.notes)
    understanding = plan.understanding
    return finish(plan, message=understanding.text if understanding else "")


def _select_forecasts(situation: Situation, forecasts: Sequence[PeriodForecast]) -> list[PeriodForecast]:
    """Select the forecasts of tables that the goal mentions; without any, that of the likeliest column."""
    mentioned = mentioned_tables([forecast.table for forecast in forecasts], situation.goal.text)
    if mentioned:
        return [forecast for forecast in forecasts if forecast.table in mentioned]
    likeliest = situation.target
    return [
        forecast
        for forecast in forecasts
        if likeliest
        and (forecast.table.name, forecast.aggregation.column) == (likeliest.table.name, likeliest.column.name)
    ]


def _names_year_ahead(situation: Situation) -> bool:
    """Test if the goal names a year after the last date of the tables, of which no row is stored."""
    dates = [str(column.high)[:4] for table in situation.tables for column in table.dates]
    years = [word for word in words(situation.goal.text) if len(word) == len("2000") and word.isdecimal()]
    return bool(dates and years) and max(years) > max(dates)


def ask_for_kind(situation: Situation) -> AgentAction | None:
    target = situation.target
    if target is None or situation.preferences.problem or situation.preferences.metric or situation.kind_answer:
        return None
    if situation.target_answers and target.column.distinct > MAX_CLASSES:
        return None  # the goal's own words were about something else
    if not kind_is_unclear(situation.goal, target.column):
        return None
    if situation.preferences.clarify == "never":
        name = target.column.name
        return _refuse(f'Is `{name}` a class or an amount? Say "classify {name}" or "how much {name}".')
    return clarification.ask_kind(target.column)


def ask_about_bound(situation: Situation) -> AgentAction | None:
    """Ask what a bound of the goal compares that the plan would pass over."""
    target, preferences = situation.target, situation.preferences
    answers = (situation.answer_to(clarification.WHICH_BOUND), situation.kind_answer, situation.target_answers)
    if target is None or any(answers) or preferences.implies_model or preferences.clarify == "never":
        return None
    bound = unused_bound(_plan_request(situation, target))
    return clarification.ask_bound(target.column, bound) if bound else None


def ask_about_missing_dates(situation: Situation) -> AgentAction | None:
    """Ask if a forecast may be made without dates."""
    target = situation.target
    if (
        target is None
        or not situation.goal.lookahead
        or target.table.dates
        or situation.preferences.time_column
    ):
        return None
    if situation.preferences.clarify == "never":
        return _refuse(
            f"The goal looks ahead in time, and no column of `{target.table.name}` holds dates. Upload a table"
            f" with dates, or ask for `{target.column.name}` of a row without a time."
        )
    is_answered = situation.answer_to(clarification.WITHOUT_DATES)
    return None if is_answered else clarification.ask_without_dates(target.column)


def ask_about_time(situation: Situation) -> AgentAction | None:
    """Ask for the time column of a forecast over a table with several dates."""
    target, goal = situation.target, situation.goal
    if target is None or not goal.lookahead or goal.time_phrase or situation.preferences.time_column:
        return None
    dates = named_columns.date_columns(goal, target.table)
    is_open = len(dates) > 1 and not situation.answer_to(clarification.WHICH_TIME)
    return clarification.ask_time(dates) if is_open else None


def ask_about_dates(situation: Situation) -> AgentAction | None:
    dates = _ambiguous_dates(situation)
    return clarification.ask_date_order(dates) if dates and not situation.date_order_answer else None


def _ambiguous_dates(situation: Situation) -> list[Column]:
    if situation.target is None:
        return []
    settled_columns = {*situation.preferences.column_types, *situation.preferences.exclude}
    return [
        column
        for column in situation.target.table.columns
        if column.is_date_order_open and column.name not in settled_columns
    ]


def ask_for_coin(situation: Situation) -> AgentAction | None:
    """Ask which coin, if the goal names none that is stored."""
    if not _is_about_prices(situation) or not situation.stored_coins or situation.coins:
        return None
    missing = " and ".join(situation.mentioned_coins)
    if situation.answer_to(price_questions.WHICH_COIN) or (not missing and len(situation.stored_coins) == 1):
        return None
    return price_questions.ask_coin(situation.stored_coins, missing)


def ask_for_horizon(situation: Situation) -> AgentAction | None:
    if not _is_about_prices(situation) or situation.preferences.horizon or situation.lookahead:
        return None
    return price_questions.ask_horizon(bar_seconds(situation.coins, situation.series))


def ask_about_costs(situation: Situation) -> AgentAction | None:
    is_traded = _is_about_prices(situation) and situation.goal.outlook != "volatility"
    is_settled = situation.market_terms.fee_bps is not None or situation.answer_to(price_questions.WHAT_COSTS)
    return price_questions.ask_costs() if is_traded and not is_settled else None


def _is_about_prices(situation: Situation) -> bool:
    return situation.target is not None and situation.target.table is PRICES


def conclude(situation: Situation) -> AgentAction:
    if situation.is_coin_declined:
        missing = " and ".join(situation.mentioned_coins)
        note = price_questions.describe_missing_coin(situation.stored_coins, missing)
        return finish(Plan(target="?", notes=[note]))
    target = situation.target
    if target is None or situation.is_stopped:
        reason = "There is nothing to predict." if situation.is_stopped else NO_COLUMN
        return finish(Plan(target="?", notes=[reason]))
    plan = make_plan(_plan_request(situation, target))
    plan = add_trading_terms(plan, situation, target)
    is_answer = bool(situation.target_answers) or situation.preferences.target is not None
    understanding = understand_prediction(plan, situation.match, target, is_answer)
    plan = plan.model_copy(update={"understanding": understanding})
    return finish(plan, message=" ".join([describe_prediction(plan, target), *plan.notes]))


def _plan_request(situation: Situation, target: ScoredColumn) -> PlanRequest:
    return PlanRequest(
        goal=situation.settled_goal,
        tables=situation.tables,
        target=target,
        preferences=_preferences_with_answers(situation),
        kind_answer=situation.kind_answer,
        entities_answer=situation.entities_answer,
        bound_answer=situation.bound_answer,
        notes=situation.resolved.notes,
    )


def _preferences_with_answers(situation: Situation) -> PlanPreferences:
    """Return the preferences with the user's answers about time and dates."""
    preferences = situation.preferences
    if time_column := situation.answer_to(clarification.WHICH_TIME):
        preferences = preferences.model_copy(update={"time_column": time_column})
    if date_order := situation.date_order_answer:
        orders = {column.name: date_order for column in _ambiguous_dates(situation)}
        types = {**orders, **preferences.column_types}
        preferences = preferences.model_copy(update={"column_types": types})
    return preferences


RULES = (
    list_tables,
    read_schemas,
    list_prices,
    ask_about_preferences,
    refuse_unserved,
    plan_period_forecast,
    question_plan.ask_or_answer,
    refuse_procedure,
    overview_plan.plan_overview,
    ask_for_target,
    ask_about_missing_dates,
    ask_for_kind,
    ask_about_bound,
    ask_about_time,
    ask_about_dates,
    ask_for_coin,
    ask_for_horizon,
    ask_about_costs,
    conclude,
)


def read_situation(messages: Sequence[BaseMessage]) -> Situation:
    conversation = read_conversation(messages)
    brief = PlannerBrief.model_validate(conversation.brief)
    return Situation(ConversationView(brief, conversation.completed_calls))


decide = make_view_policy(RULES, read_situation)
