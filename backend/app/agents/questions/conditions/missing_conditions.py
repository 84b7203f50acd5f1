"""Conditions on missing values, and on states that are told by one: `active` rows have no end yet."""

from datetime import timedelta

from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import word_set
from app.agents.questions.conditions.value_conditions import flag_condition
from app.agents.questions.items import QuestionItem
from app.agents.questions.marking.mark_items import bare_value
from app.agents.questions.matching.column_matching import STEM
from app.agents.questions.matching.value_matching import flag_values
from app.agents.questions.question_reading import (
    Condition,
    NotUnderstood,
    QuestionReading,
    add_condition,
    is_measurable,
)
from app.agents.questions.tables.scope import Reference
from app.plans import build
from app.plans.expressions import Expression, parse_datetime


def parse_missing(reading: QuestionReading) -> None:
    for phrase in (
        "contain|contains|have|has|had|with|having no|zero C=column",
        "no|zero C=column",
        "without C=column",
    ):
        match = reading.text.find(phrase)
        item = reading.text.item(match, "column") if match else None
        if match is None or item is None:
            continue
        # `no siblings` is 0 where zeros are stored and nothing is missing; beside missing cells it may mean
        # these.
        best = item.columns[0]
        if (
            best.score < 0.6
            or not is_measurable(best.column)
            or best.column.low != 0
            or best.column.missing > 0
        ):
            continue
        reference = reading.column(item, True)
        add_condition(
            reading,
            match,
            Condition(build.compare("=", reference.expression, build.literal(0)), reference, (0,)),
        )
    presence = "known|recorded|filled|given|present|available|reported"
    for phrase, is_missing in (
        (f"C=column @is? not|never|un {presence}|complete", True),
        ("C=column @is? missing|unknown|empty|blank|null|unrecorded", True),
        ("missing|unknown|empty|blank|unrecorded C=column", True),
        (
            (
                "without|no|lack|lacking|lacks C=column value|values|reading|readings|entry|entries|data|"
                "information?"
            ),
            True,
        ),
        ("have|has|had|having|with no C=column value|values|reading|readings|entry|entries|data?", True),
        ("without C=column", True),
        ("have|has|had|having|with no C=column", True),
        ("@not @have C=column", True),
        ("lack|lacking|lacks C=column", True),
        (f"C=column @is {presence}", False),
        (f"{presence} C=column", False),
    ):
        match = reading.text.find(phrase)
        item = reading.text.item(match, "column") if match else None
        if match is None or item is None or (is_missing and not _may_be_missing(reading, item)):
            continue
        # A word that is a stored value as well means the rows that have it, and no gap.
        if item.values and bare_value(item):
            continue
        reference = reading.column(item)
        missing = build.is_missing(reference.expression)
        flag = flag_values(reference.column)
        # `without insurance` means the no of a yes/no column that has no gaps.
        if flag and is_missing and reference.column.missing == 0:
            missing = flag_condition(reference, flag[0])
        add_condition(reading, match, Condition(missing if is_missing else build.negate(missing), reference))
        return


def _may_be_missing(reading: QuestionReading, item: QuestionItem) -> bool:
    best = item.columns[0]
    return best.score >= 0.6 and (best.column.missing > 0 or flag_values(best.column) is not None)


_UNFINISHED = "current|currently|active|still|open|running|ongoing|pending|unresolved|outstanding|unfinished"
_FINISHED = (
    "left|ended|cancelled|canceled|closed|former|resolved|finished|terminated|churned|inactive|"
    "expired|completed"
)
_ENDS = word_set(
    """
    end ended left closed resolved returned restarted finished cancelled canceled completed delivered
    solved exit terminated paid shipped churned quit discharged released withdrawn retired expired
    unsubscribed
    """
)


def parse_statuses(reading: QuestionReading) -> None:
    """Parse `active`, `current staff`, `those who left`: by the missing end of what is not over yet."""
    ends = [
        Reference(table.name, column)
        for table in reading.scope.tables
        for column in table.dates
        if column.missing > 0 and _ENDS & set(words(column.name))
    ]
    # With a date of return and one of payment, `open` could be said of either.
    if len(ends) != 1:
        return
    for phrase, is_over in ((f"{_UNFINISHED}", False), (f"{_FINISHED}", True)):
        for place, item in enumerate(reading.text.items):
            if item.role or item.word not in phrase.split("|") or bare_value(item):
                continue
            if _is_flag(item):
                continue
            if not is_over and _lasted_on_day(reading, place, phrase.split("|"), ends[0]):
                return
            if any(c.is_date and c.column and c.column.table == ends[0].table for c in reading.conditions):
                # Who was active in 2020 depends on the start as well: the end alone would count rows that had
                # not begun.
                raise NotUnderstood(
                    f"It asks what was {item.word!r} at a time; ask for a range of dates instead."
                )
            state = build.is_missing(ends[0].expression)
            reading.text.use(_state_places(reading, place, phrase.split("|")), "condition")
            reading.note(
                f"{item.text!r} is read as `{ends[0].column.name}` {'given' if is_over else 'missing'}."
            )
            reading.conditions.append(
                Condition(build.negate(state) if is_over else state, ends[0], place=place)
            )
            return


def _lasted_on_day(reading: QuestionReading, place: int, words_of_state: list[str], end: Reference) -> bool:
    """Read what was going on on a day: it began until then, and ended later or not yet."""
    days = [c for c in reading.conditions if c.is_date and c.column and c.column.table == end.table]
    if len(days) != 1 or days[0].column is None or days[0].column == end:
        return False
    span = days[0].expression
    if span.kind != "and" or len(span.operands) != 2:
        return False
    first, second = span.operands
    if first.kind != "compare" or second.kind != "compare" or (first.op, second.op) != (">=", "<"):
        return False
    start, tomorrow = first.left, second.right
    if not _is_single_day(first.right, tomorrow):
        return False
    ends_later = build.compare(">=", end.expression, tomorrow)
    lasts = build.either([build.is_missing(end.expression), ends_later])
    condition = build.every([build.compare("<", start, tomorrow), lasts])
    reading.conditions.remove(days[0])
    reading.text.use(_state_places(reading, place, words_of_state), "condition")
    began = days[0].column.column.name
    reading.note(
        f"Those are meant that began until that day (`{began}`) and had not ended (`{end.column.name}`)."
    )
    reading.conditions.append(Condition(condition, days[0].column, is_date=True, place=place))
    return True


def _is_single_day(first: Expression, second: Expression) -> bool:
    if first.kind != "literal" or second.kind != "literal" or first.type != "datetime":
        return False
    return parse_datetime(second.value) - parse_datetime(first.value) == timedelta(days=1)


def _is_flag(item: QuestionItem) -> bool:
    """Tell if a word is the whole name of a yes/no column, which says it as surely as a date."""
    return any(match.score >= STEM and flag_values(match.column) is not None for match in item.columns)


def _state_places(reading: QuestionReading, place: int, words_of_state: list[str]) -> list[int]:
    """The places of a state of one or several words: `still running`."""
    end = place + 1
    while end < len(reading.text.items) and reading.text.items[end].word in words_of_state:
        end += 1
    return [*range(place, end)]
