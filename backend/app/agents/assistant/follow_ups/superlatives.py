"""Superlatives behind an answer: `and the lowest?`, `worst?`, `second highest?`, `show the others`."""

import re
from collections.abc import Callable
from typing import NamedTuple

from app.agents.assistant.follow_ups.change_phrases import COUNT
from app.agents.assistant.follow_ups.changed_plan import ChangedPlan
from app.number_words import read_number_words
from app.plans import editing, ranking_changes
from app.plans.plan import Plan
from app.plans.ranking_changes import RowRanking, find_ranking
from app.plans.schema import TableSchema

_HIGHEST = (
    "top|best|highest|biggest|largest|greatest|most|longest|heaviest|tallest|busiest|priciest|most expensive"
    "|maximum|max"
)
_LOWEST = (
    "bottom|worst|lowest|smallest|least|fewest|shortest|lightest|quietest|cheapest|least expensive|minimum|min"
)
_LATEST, _EARLIEST = "latest|newest|most recent|youngest", "earliest|oldest"
_SIDES = f"{_HIGHEST}|{_LOWEST}|{_LATEST}|{_EARLIEST}"
_PLACES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_PLACE = rf"(?P<place>{'|'.join(_PLACES[1:])}|\d{{1,2}}(?:nd|rd|th)|next)"
_NOUN = r"(?: (?P<noun>[a-z]{2,30}))?"
_SUPERLATIVE = re.compile(
    rf"(?:(?:which|who|what)(?: one)? (?:is|was|has|had|comes?|came) )?(?P<article>the )?(?:{_PLACE}[- ])?"
    rf"(?:(?P<count>{COUNT}) )?(?P<side>{_SIDES})(?: (?P<behind>{COUNT}))?{_NOUN}",
    re.IGNORECASE,
)
_ONLY_PLACE = re.compile(
    rf"(?:(?:which|who|what)(?: one)? (?:is|was|comes?|came) )?(?:in )?(?:the )?{_PLACE}(?: place)?{_NOUN}",
    re.IGNORECASE,
)
_OTHERS = re.compile(
    r"(?:(?:show|list|see|display)(?: me| us)? )?(?:all )?(?:of )?(?:the )?"
    r"(?:others|(?:other|remaining) (?P<noun>[a-z]{2,30})|rest(?: of (?:them|those|these|it))?)",
    re.IGNORECASE,
)
_IDENTITY = re.compile(
    r"(?:which|who)(?: (?P<noun>[a-z]{2,30}))? (?:is|was) (?:that|this|it)(?: (?:one|then))?", re.IGNORECASE
)
_GROUPS_OF_ANSWER = frozenset({"one", "ones", "rows", "groups", "bars", "then"})
_NUMBERS = ("integer", "number")


class GroupedAnswer(NamedTuple):
    """The last answer: its plan and columns. `names_group`: tells nouns of its groups."""

    plan: Plan
    schema: TableSchema
    names_group: Callable[[str], bool]

    def takes_noun(self, noun: str | None) -> bool:
        return noun is None or noun.casefold() in _GROUPS_OF_ANSWER or self.names_group(noun)


def read_superlative(words: str, answer: GroupedAnswer) -> ChangedPlan | None:
    """Turn a ranking round, or keep the groups at one end or one place of an order; None for other words."""
    match = _SUPERLATIVE.fullmatch(words)
    ranking = find_ranking(answer.plan)
    if match is None:
        only_place = _ONLY_PLACE.fullmatch(words)
        if only_place is None or ranking is None or not answer.takes_noun(only_place["noun"]):
            return None
        return _keep_place(answer, ranking.column, ranking.descending, only_place["place"], ranking)
    column = _find_column(answer, ranking, match["side"].casefold())
    # `Highest` alone orders all groups that an answer shows.
    is_bare = ranking is None and not match["article"] and not match["place"] and match.start("side") == 0
    if column is None or is_bare or not answer.takes_noun(match["noun"]):
        return None
    number = match["count"] or match["behind"]
    count = (read_number_words(number) if number else None) or (ranking.size if ranking else 1)
    if match["noun"] == "one":
        count = 1
    descending = _reads_downwards(match["side"].casefold(), ranking, is_same_count=number is None)
    if match["place"]:
        return _keep_place(answer, column, descending, match["place"], ranking)
    return _keep_end(answer, column, descending, count)


def read_others(words: str, answer: GroupedAnswer) -> ChangedPlan | None:
    """Show the groups that a ranking leaves out: `show the others`."""
    match = _OTHERS.fullmatch(words)
    if match is None or not answer.takes_noun(match["noun"]):
        return None
    plan = ranking_changes.keep_others(answer.plan, [*answer.schema])
    return ChangedPlan(plan, ["Those that the last answer left out."]) if plan else None


def repeat_answer(words: str, answer: GroupedAnswer) -> ChangedPlan | None:
    """Show the last answer again, which names its groups: `which one is that?`."""
    match = _IDENTITY.fullmatch(words)
    parts = editing.split_plan(answer.plan)
    if match is None or parts.group is None or not parts.group.keys or not answer.takes_noun(match["noun"]):
        return None
    return ChangedPlan(answer.plan, ["That is the last answer."])


def _keep_end(answer: GroupedAnswer, column: str, descending: bool, count: int) -> ChangedPlan | None:
    plan: Plan | None
    if find_ranking(answer.plan) is None:
        plan = editing.keep_first(editing.rank_by(answer.plan, column, descending), count)
    else:
        turned = ranking_changes.turn_ranking(answer.plan, descending)
        plan = editing.keep_first(turned, count) if turned else None
    side = _describe_side(answer, column, descending)
    text = f"The {side} by `{column}`." if count == 1 else f"The {count} {side} by `{column}`."
    return ChangedPlan(plan, [text]) if plan else None


def _keep_place(
    answer: GroupedAnswer, column: str, descending: bool, words: str, ranking: RowRanking | None
) -> ChangedPlan | None:
    place = _read_place(words.casefold(), ranking)
    plan = ranking_changes.keep_place(answer.plan, column, descending, place, [*answer.schema])
    side = _describe_side(answer, column, descending)
    return ChangedPlan(plan, [f"Number {place} of the {side} by `{column}`."]) if plan else None


def _read_place(word: str, ranking: RowRanking | None) -> int:
    if word == "next":
        return ranking.size + 1 if ranking else 2
    return _PLACES.index(word) + 1 if word in _PLACES else int(re.sub(r"\D", "", word))


def _describe_side(answer: GroupedAnswer, column: str, descending: bool) -> str:
    if answer.schema.get(column) == "datetime":
        return "latest" if descending else "earliest"
    return "highest" if descending else "lowest"


def _reads_downwards(side: str, ranking: RowRanking | None, is_same_count: bool) -> bool:
    """Tell whether the greatest come first.

    The best may be the least, as of failures: behind a ranking of as many rows `best` and `worst` ask for the
    other end, since the present one is shown already.
    """
    if ranking is not None and is_same_count and side in ("best", "worst"):
        return not ranking.descending
    return side in f"{_HIGHEST}|{_LATEST}".split("|")


def _find_column(answer: GroupedAnswer, ranking: RowRanking | None, side: str) -> str | None:
    """Find the column of an order: that of the ranking, else the first figure. Dates have no highest one."""
    parts = editing.split_plan(answer.plan)
    is_of_time = side in f"{_LATEST}|{_EARLIEST}".split("|")
    figures = parts.measures if parts.group and parts.group.keys else editing.list_row_figures(answer.plan)[-1:]
    candidates = [ranking.column] if ranking else figures[:1]
    types = ("datetime",) if is_of_time else _NUMBERS
    return next((name for name in candidates if answer.schema.get(name) in types), None)
