"""The parts of a goal."""

from dataclasses import dataclass, field

from app.agents.goals.phrases import intents
from app.agents.goals.phrases.costs import MistakeCosts
from app.agents.goals.phrases.input_lists import NO_INPUTS, InputList
from app.agents.goals.phrases.thresholds import Threshold
from app.agents.goals.tables.column_roles import ColumnRole
from app.agents.goals.words.stemming import stem, stems
from app.agents.goals.words.tokenizer import words
from app.modeling.problem.kinds import OutlookName, ProblemKindName


@dataclass(frozen=True)
class Lookahead:
    """Distance into the future: `rows`, or `seconds` to be converted by the spacing of the rows."""

    rows: int | None = None
    seconds: float | None = None
    counts_days: bool = field(default=False, compare=False)
    """True if the goal counts days, which are trading days where the rows are."""


@dataclass(frozen=True)
class Goal:
    """The parts of a goal."""

    text: str
    target_text: str
    """The text that may name the target: without inputs, exclusions and metrics."""
    effect_text: str
    """The goal without the causes that it states."""
    request_text: str
    """What the goal asks for in its own words: without inputs, stated causes and exclusions."""
    after_verb: str
    """The part of `target_text` after its first verb of prediction; empty without one."""
    input_text: str
    """The text that names the inputs."""
    quoted: tuple[str, ...]
    """Quoted parts of `target_text`."""
    kind: ProblemKindName | None
    metric: str | None
    lookahead: Lookahead | None
    outlook: OutlookName | None
    excluded_phrases: tuple[str, ...]
    """Phrases that name columns or tables not to be used."""
    avoided_phrases: tuple[str, ...]
    """Phrases that name a column not to be used, if they name one."""
    positive: str | None
    """The value that the goal calls the positive class."""
    group_phrases: tuple[str, ...]
    """Phrases that name the groups for whose unseen members the model must work."""
    time_phrase: str | None
    """The phrase that names the column by which the rows are ordered."""
    wants_join: bool
    threshold: Threshold | None
    coin: str | None
    is_about_coins: bool
    denied_phrases: tuple[str, ...]
    """Phrases that name what is not to be predicted."""
    is_exploratory: bool
    """True if the goal asks for an exploration instead of a prediction."""
    wants_no_model: bool
    wants_drivers: bool = False
    """True if the goal asks what its target goes with."""
    costs: MistakeCosts | None = None
    time_limit_s: float | None = None
    """Seconds that the goal allows the session."""
    quantile_percent: int | None = None
    """The requested quantile in percent."""
    has_each_step: bool = False
    """True if a forecast is requested for each step up to the horizon."""
    input_list: InputList = NO_INPUTS
    """The inputs that the goal lists: a model of it has no others."""
    roles: tuple[ColumnRole, ...] = ()
    """Roles of columns that the goal describes."""
    excluded_rows: tuple[str, ...] = ()
    """Phrases of exclusions that name rows: "cancelled bookings"."""

    @property
    def exclusions(self) -> tuple[str, ...]:
        """All phrases of what is left out, columns or rows."""
        return *self.excluded_phrases, *self.avoided_phrases, *self.excluded_rows

    def names_no_target(self, table: str) -> bool:
        """Tell if the goal asks for a model without naming a target. The table's own name is no target."""
        goal_words = set(words(self.target_text)) | set(words(self.input_text))
        return bool(goal_words) and all(
            word in intents.GENERIC or stem(word) in set(stems(table)) for word in goal_words
        )
