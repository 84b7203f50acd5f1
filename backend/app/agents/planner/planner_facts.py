"""The facts that the planner's rules decide by, computed once for a decision."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import chain
from typing import Literal

from app.agents.goals.aims.classifier import Aim, classify_aim, join_aims
from app.agents.goals.clauses import head_stems
from app.agents.goals.columns.name_score import QUOTED_SCORE
from app.agents.goals.columns.target import MIN_CLEAR_SCORE, ScoredColumn, TargetMatch, find_target
from app.agents.goals.conditions.filters import find_open_conditions
from app.agents.goals.conditions.row_conditions import RowCondition
from app.agents.goals.conditions.row_exclusions import settle_exclusions
from app.agents.goals.conditions.states import find_selecting_columns
from app.agents.goals.goal import Goal, Lookahead
from app.agents.goals.market_returns import settle_returns
from app.agents.goals.parser import parse_goal
from app.agents.goals.phrases.thresholds import Threshold
from app.agents.goals.phrases.trading_terms import (
    MarketTerms,
    forecast_unit,
    names_barriers,
    parse_market_terms,
)
from app.agents.goals.refusals.languages import foreign_language
from app.agents.goals.series.axis_detection import parts_of_times
from app.agents.goals.tables.profiles import TableProfile, make_table_profile
from app.agents.planner import clarification
from app.agents.planner.output import ColumnType
from app.agents.planner.preferences import (
    COLUMN_PREFERENCES,
    PlannerBrief,
    PlanPreferences,
    ResolvedPreferences,
    resolve_preferences,
)
from app.agents.planner.price_questions import HOW_FAR, NO_COIN, WHICH_COIN
from app.agents.planner.stored_prices import PRICES, StoredSeries, coins_in_goal, has_bars, stored_series
from app.agents.planner.target_answers import TargetAnswer, parse_target_answer
from app.agents.planner.tool_answers import (
    AnsweredQuestion,
    DatasetListing,
    answer_to,
    answers_to,
    read_user_answers,
)
from app.agents.questions.learned.reading import LearnedAim, read_aim
from app.agents.runtime.conversation import ConversationView
from app.modeling.problem.kinds import ProblemKindName

MIN_MODEL = 0.7
"""Probability of a prediction from which a goal asks for a model, also without a word of the tables."""
MIN_DRIVERS = 0.6
"""Probability from which a goal asks what its target goes with although no word of its own says so: "what moves
the price", "is warm water bad for the catch"."""
MIN_EXPLORATION = 0.5
"""Probability of an exploration from which the tables are described: it is then the likeliest aim."""

# A goal is parsed anew in each turn of its planner; 64 are more than one process plans at once.
_parse_goal = lru_cache(maxsize=64)(parse_goal)


@dataclass(frozen=True)
class Situation:
    """A conversation of the planner. Properties are computed when a rule first needs them, and then kept."""

    view: ConversationView[PlannerBrief]

    @cached_property
    def goal(self) -> Goal:
        """The goal, with words that only the tables settle: `returns` of a price, and rows to leave out."""
        return settle_exclusions(settle_returns(self._parsed_goal, self.tables), self.tables)

    @property
    def _parsed_goal(self) -> Goal:
        """The goal as its words alone have it, before any table is read."""
        return _parse_goal(self.view.brief.goal)

    @cached_property
    def aims(self) -> Mapping[Aim, float]:
        """Probabilities of what the goal asks for."""
        by_words = classify_aim(self.goal, tuple(self.tables))
        return join_aims(by_words, self.learned.aims) if self.learned else by_words

    @property
    def asks_for_model(self) -> bool:
        """True if the goal is likely one of a model, and no question about stored rows."""
        return self.aims["predict"] + self.aims["drivers"] + self.aims["forecast"] >= MIN_MODEL

    @cached_property
    def learned(self) -> LearnedAim | None:
        """The aim and the target by the fitted decoder, which has seen goals in English alone."""
        text = self._parsed_goal.text
        return read_aim(text, self.tables) if foreign_language(text) is None else None

    @cached_property
    def market_terms(self) -> MarketTerms:
        return parse_market_terms(self._parsed_goal.text)

    @cached_property
    def user_answers(self) -> tuple[AnsweredQuestion, ...]:
        return read_user_answers(self.view)

    def answer_to(self, question: str) -> str | None:
        """Return the user's answer to a question that begins with this text."""
        return answer_to(question, self.user_answers)

    def answers_to(self, question: str) -> list[str]:
        return answers_to(question, self.user_answers)

    @cached_property
    def table_names(self) -> list[str]:
        """Names of the uploaded tables, if they have been listed."""
        listing = self.view.last_success("list_datasets")
        return DatasetListing.model_validate(listing.value).table_names if listing else []

    @cached_property
    def tables(self) -> list[TableProfile]:
        """The uploaded tables; without any, the stored prices if the goal is about them."""
        schemas = self.view.successes("get_dataset_schema")
        uploaded = [make_table_profile(completed.value) for completed in schemas]
        # Uploaded tables come first: "forecast the price" over a table of houses is not about coins.
        return uploaded or ([PRICES] if self._is_about_prices else [])

    @cached_property
    def series(self) -> list[StoredSeries]:
        """The stored price series, if they have been listed."""
        return stored_series(self.view)

    @cached_property
    def stored_coins(self) -> list[str]:
        return list(dict.fromkeys(entry.coin for entry in self.series))

    @cached_property
    def mentioned_coins(self) -> tuple[str, ...]:
        """The coins that the goal names, stored or not."""
        return coins_in_goal(self._parsed_goal.text, self.series)

    @cached_property
    def coins(self) -> tuple[str, ...]:
        """The stored coins that the goal or the user's answer names, or the only stored one."""
        if available := tuple(coin for coin in self.mentioned_coins if coin in self.stored_coins):
            return available
        if not self.mentioned_coins and len(self.stored_coins) == 1:
            return (self.stored_coins[0],)
        answer = self.answer_to(WHICH_COIN)
        return tuple(coin for coin in self.stored_coins if coin == answer)

    @cached_property
    def resolved(self) -> ResolvedPreferences:
        answers = {key: self.answer_to(clarification.which_column(key)) for key in COLUMN_PREFERENCES}
        return resolve_preferences(
            self.view.brief.preferences,
            self.tables,
            {key: answer for key, answer in answers.items() if answer is not None},
        )

    @property
    def preferences(self) -> PlanPreferences:
        return self.resolved.preferences

    @cached_property
    def match(self) -> TargetMatch:
        """The match of the target. A forecast of prices or bars without a named column means the close."""
        match = self._find_target(self.preferences.target, self.preferences.exclude)
        has_only_bars = len(self.tables) == 1 and has_bars(self.tables[0])
        is_bar_forecast = has_only_bars and bool(self.goal.lookahead or self.goal.outlook)
        is_named = match.target is not None and match.target.score >= MIN_CLEAR_SCORE
        # "Forecast bitcoin" names no column, and "forecast the volume" names one.
        if not is_named and (PRICES in self.tables or is_bar_forecast):
            return self._find_target("close")
        return match

    @cached_property
    def target(self) -> ScoredColumn | None:
        """The target that goal and data determine, or that the user chose."""
        if self.match.target:
            return self.match.target
        answer = self.target_answers[-1] if self.target_answers else None
        return self._read_target_answer(answer) if answer else None

    @cached_property
    def is_overview(self) -> bool:
        """True if the goal asks to look at the data, and neither goal nor user name a target."""
        if self.preferences.implies_model or not any(table.columns for table in self.tables):
            return False
        return self._explores and self.target is None and not self.target_answers

    @property
    def _explores(self) -> bool:
        return self.goal.wants_no_model or self.aims["explore"] >= MIN_EXPLORATION

    @property
    def target_answers(self) -> list[str]:
        return self.answers_to(clarification.WHICH_TARGET)

    def _read_target_answer(self, answer: str) -> ScoredColumn | None:
        """Return the column that an answer means: an option, any column, a comparison with one, or words."""
        name = self._answered_goal.target_name or answer
        if option := clarification.match_option(name, self.match.options):
            return option
        columns = [
            ScoredColumn(table, column, QUOTED_SCORE)
            for table in self.tables
            for column in table.columns
            if name.casefold().strip("` ") in (column.name.casefold(), f"{table.name}.{column.name}".casefold())
        ]
        # Other words are read like a goal: the user may say in an answer what the goal did not.
        return columns[0] if columns else find_target(_parse_goal(answer), self.tables).target

    @cached_property
    def _answered_goal(self) -> TargetAnswer:
        return parse_target_answer(self.target_answers[-1] if self.target_answers else "")

    @property
    def kind_answer(self) -> ProblemKindName | None:
        return clarification.KINDS.get(self.answer_to(clarification.WHICH_KIND) or "")

    @cached_property
    def _bound(self) -> TargetAnswer:
        return parse_target_answer(self.answer_to(clarification.WHICH_BOUND) or "")

    @property
    def bound_answer(self) -> Threshold | None:
        """The bound of the target that the user answered."""
        return None if self.bound_condition else self._bound.threshold

    @property
    def bound_condition(self) -> RowCondition | None:
        """The rows that the user answered: a comparison of another column than the target."""
        target, condition = self.target, self._bound.condition
        if condition is None or target is None or condition.column == target.column.name:
            return None
        return condition if any(table.column(condition.column) for table in self.tables) else None

    @cached_property
    def open_rows(self) -> list[tuple[RowCondition, ...]]:
        """Conditions on the rows among which the goal does not choose."""
        target = self.target.column.name if self.target else None
        goal = self.goal
        return find_open_conditions(goal.effect_text, self.tables, target, head_stems(goal.target_text))

    @property
    def unanswered_rows(self) -> list[tuple[RowCondition, ...]]:
        """Those of the open conditions that the user has not been asked about: one question for each value."""
        return [alike for alike in self.open_rows if self._rows_answer_to(alike) is None]

    @property
    def answered_rows(self) -> list[RowCondition]:
        """The conditions that the user chose among them."""
        return [
            condition
            for alike in self.open_rows
            for condition in alike
            if condition.description == self._rows_answer_to(alike)
        ]

    def _rows_answer_to(self, alike: Sequence[RowCondition]) -> str | None:
        return self.answer_to(clarification.rows_question(alike))

    @property
    def entities_answer(self) -> Literal["new", "known"] | None:
        return clarification.ENTITIES.get(self.answer_to(clarification.NEW_OR_KNOWN) or "")

    @property
    def date_order_answer(self) -> ColumnType | None:
        return clarification.DATE_ORDERS.get(self.answer_to(clarification.DAY_OR_MONTH) or "")

    @property
    def is_stopped(self) -> bool:
        """True if the user chose to end instead of a target, or of a forecast without dates."""
        return clarification.STOP in (*self.target_answers[-1:], self.answer_to(clarification.WITHOUT_DATES))

    @property
    def is_coin_declined(self) -> bool:
        """True if the user declined all stored coins."""
        return self.answer_to(WHICH_COIN) == NO_COIN

    @cached_property
    def lookahead(self) -> Lookahead | None:
        """The lookahead of the goal, or of the user's answer."""
        if self.goal.lookahead:
            return self.goal.lookahead
        if answer := self.answer_to(HOW_FAR):
            # The offered horizons are durations alone ("4 hours"), which look ahead only behind `in`.
            return _parse_goal(f"in {answer}").lookahead
        # "Predict daily returns" looks one day ahead, without a word for it.
        unit = forecast_unit(self.goal.text)
        return _parse_goal(f"in 1 {unit}").lookahead if unit else None

    @property
    def settled_goal(self) -> Goal:
        """The goal with its likeliest aim, and with the lookahead and the threshold of the user's answers."""
        return replace(
            self.goal,
            lookahead=self.lookahead,
            threshold=self._answered_goal.threshold or self.goal.threshold,
            # A model of the inputs that a goal lists is no search for others.
            wants_drivers=self.goal.wants_drivers
            or (self.aims["drivers"] >= MIN_DRIVERS and not self.goal.input_list.phrases),
        )

    @property
    def names_trading_terms(self) -> bool:
        """True if the goal names costs of trades or prices at which they end."""
        return names_barriers(self._parsed_goal.text) or self.market_terms.fee_bps is not None

    @property
    def _is_about_prices(self) -> bool:
        """True if the goal names a coin, or asks for a forecast while only prices are stored."""
        goal = self._parsed_goal
        return bool(
            goal.is_about_coins
            or self.mentioned_coins
            or (self.series and (goal.lookahead or goal.outlook or self.names_trading_terms))
        )

    def _find_target(self, preference: str | None, excluded: Sequence[str] = ()) -> TargetMatch:
        # What only selects rows is not what is asked for: "the satisfaction of vip callers".
        selecting = find_selecting_columns(self.goal.request_text, self.tables)
        # The hours of a series say when, and not what: "the load in the next 48 hours".
        times = [*map(parts_of_times, self.tables)] if self.goal.lookahead else []
        refused = [*excluded, *selecting, *chain(*times)]
        learned = self.learned.targets if self.learned else None
        return find_target(self.goal, self.tables, preference, refused, learned)
