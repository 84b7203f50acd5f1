"""What a question wants to know: one rule for each way of asking, tried from the top."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.agents.goals.stemming import words
from app.agents.goals.tables import Column
from app.agents.questions.conditions import meant, take_flags
from app.agents.questions.group_by import group_of
from app.agents.questions.query import PARTS, Condition, Function, Group, Measure
from app.agents.questions.sentence import NotUnderstood, Sentence
from app.agents.questions.tokenizer import flag_values
from app.agents.questions.vocabulary import ADJECTIVES, AGGREGATE, AGGREGATES, LOW, SUPERLATIVE

_AGG = rf"(?:(?P<agg>{AGGREGATE})(?: values?| amount| number)?(?: of| in| for)?(?: the| all)? )?"
_WHAT = rf"(?P<what>C\d+|R|{'|'.join(PARTS)})"
_BY = r"(?:(?:number|count) of )?(?P<by>C\d+|R)(?P<rate> rate)?"
_SUP = rf"(?P<sup>{SUPERLATIVE})"
NUMERIC: frozenset[Function] = frozenset({"mean", "median", "total", "spread", "percentile", "correlation"})


@dataclass(frozen=True)
class Wanted:
    """The measures, and what else the way of asking settles."""

    measures: tuple[Measure, ...]
    groups: tuple[Group, ...] = ()
    most: int | None = None
    descending: bool = True
    listing: bool = False
    of_whole: bool = False


COUNT = Measure("count")
_WAYS: tuple[Function, ...] = ("total", "mean", "highest")
Rule = Callable[[Sentence], Wanted | None]


def take_measures(sentence: Sentence) -> Wanted:
    """Raises NotUnderstood where no rule finds a figure that is asked for."""
    for rule in RULES:
        if wanted := rule(sentence):
            return wanted
    raise NotUnderstood("It cannot be told which figure is asked for.")


def _correlation(sentence: Sentence) -> Wanted | None:
    if not sentence.has(r"\bcorrelat\w*|\b(?:related|associated|relationship|association)\b"):
        return None
    found = sentence.take(r"(?P<a>C\d+) (?:is |are )?(?:and|with|to|,)(?: the)? (?P<b>C\d+)") or sentence.take(
        r"(?P<a>C\d+) (?:\w+ ){0,8}?(?:with|to|and)(?: the)? (?P<b>C\d+)"
    )
    if not found:
        raise NotUnderstood("A correlation is of two columns, and it does not name two.")
    sentence.take(r"\b(?:correlat\w*|related|associated|relationship|association)(?: coefficient)?")
    sentence.take(r"\b(?:strongly|strong|closely)\b")
    pair = [numeric(sentence.column(found[name]), "correlation") for name in "ab"]
    return Wanted((Measure("correlation", (pair[0], pair[1])),))


def _missing(sentence: Sentence) -> Wanted | None:
    if not sentence.take(r"\b(?:missing|nulls?|empty|blank|nan|not filled in)\b(?: values?| cells?)?"):
        return None
    share = sentence.take(r"\b(?:share|percent(?:age)?|proportion|fraction)\b")
    sentence.take(r"\b(?:number|count)\b")
    named = _all_columns(sentence)
    columns = named or [column.name for column in sentence.scanned.table.columns]
    if not named and len(columns) > MAX_COLUMNS:
        raise NotUnderstood(f"The table has more than {MAX_COLUMNS} columns; name those that are meant.")
    function: Function = "missing_share" if share else "missing"
    return Wanted(tuple(Measure(function, (name,)) for name in columns))


MAX_COLUMNS = 60


def _different(sentence: Sentence) -> Wanted | None:
    found = sentence.take(
        r"(?:different|distinct|unique) (?:values? )?(?:of |in |for |does )?(?:the )?(?P<c>C\d+)(?: have)?"
    ) or sentence.take(
        r"(?:which|what)(?: are the| are all)? (?P<c>C\d+)(?: values)? (?:are|is)"
        r" (?:there|in|present|covered)\b"
        r"|\b(?:list|show)(?: me)?(?: all)?(?: the)?(?: values of)? (?P<d>C\d+)$"
        r"|\bwhat values does (?P<e>C\d+) (?:have|take)"
    )
    if not found:
        return None
    groups = found.groupdict()
    column = sentence.column(next(mark for name in "cde" if (mark := groups.get(name))))
    if sentence.take(r"\b(?:how many|number of|count of|count)\b"):
        return Wanted((Measure("different", (column.name,)),))
    return Wanted((COUNT,), (Group(column.name),), listing=True)


def _commonest(sentence: Sentence) -> Wanted | None:
    often = r"(?:common|frequent|popular|often|frequently|represented)"
    found = sentence.take(
        rf"(?:(?P<n>N\d+) )?\b(?P<side>most|least) {often}(?: R)?(?: values? of)?(?: the)? (?P<c>C\d+)"
        rf"|(?P<d>C\d+) (?:is |are |was |were |occurs? |appears? |comes? )?(?:the )?(?P<way>most|least) {often}"
        r"|\b(?P<word>commonest|rarest) (?P<e>C\d+)"
    )
    if not found:
        return None
    column = sentence.column(found["c"] or found["d"] or found["e"])
    descending = (found["side"] or found["way"] or found["word"]) not in ("least", "rarest")
    if sentence.groups:
        if not descending:
            raise NotUnderstood("The rarest value of each group is beyond me.")
        return Wanted((Measure("commonest", (column.name,)),))
    return Wanted((COUNT,), (Group(column.name),), sentence.whole(found["n"], 1), descending)


def _ranking(sentence: Sentence) -> Wanted | None:
    """Which class has the highest mean fare; the 5 countries with the most rows; top 3 islands by body mass."""
    for pattern in _RANKINGS:
        if found := re.search(pattern, sentence.text):
            break
    else:
        return None
    groups = found.groupdict()
    side = groups.get("side") or groups["sup"]
    descending = (groups.get("sup") or side) not in LOW and side not in LOW
    group = Group(_name(sentence)) if found["what"] == "R" else group_of(sentence, found["what"])
    most = sentence.whole(groups.get("n"), 1)
    if found["rate"]:
        measure = _rate(sentence, found["by"])
    else:
        said = groups.get("sup") or side
        measure = _ranked_by(sentence, group, groups.get("agg"), found["by"], said, descending, most)
    sentence.replace(found, "|")
    return Wanted((measure,), (group,), most, descending)


_VERB = (
    r"(?:has|have|had|with|that|which|who|paid|pays|shows?|is|are|was|were|got|gets|of|the|earned|earns|reached"
    r"|recorded|sold|sells|made|makes|by|in|on|for|those|values?|when|there)"
)
_RANKINGS = (
    rf"\b(?P<side>top|bottom|best|worst|highest|lowest|largest|smallest|biggest)(?: (?P<n>N\d+))? {_WHAT}"
    rf" (?:by|in|on|for|with|in terms of|according to|ranked by|ordered by|@)(?: the| their)?"
    rf" (?:(?P<sup>{SUPERLATIVE}) )?{_AGG}{_BY}",
    rf"\b(?:which|what|name|list|show|give|in which|the|those|me)(?: are| is| the| me| were| was){{0,5}}"
    rf"(?: (?P<n>N\d+))? {_WHAT} (?:{_VERB} ){{0,5}}{_SUP} {_AGG}{_BY}",
    rf"(?P<n>N\d+) {_WHAT} (?:{_VERB} ){{0,5}}{_SUP} {_AGG}{_BY}",
    rf"\b(?:which|what|in which|in what|when)(?: (?P<n>N\d+))? ?{_WHAT}"
    rf" (?:is |was |were |are |did |does |do |the ){{0,5}}{_AGG}{_BY}"
    rf" (?:is |was |were |are )?(?:the )?{_SUP}\b",
)


def _ranked_by(
    sentence: Sentence, group: Group, agg: str | None, by: str, side: str, descending: bool, most: int
) -> Measure:
    if by == "R":
        return COUNT
    column = sentence.column(by)
    if agg:
        function = AGGREGATES[agg]
        return Measure(function, (numeric(column, function),))
    name = numeric(column, "mean")
    own = next(c for c in sentence.scanned.table.columns if c.name == group.column)
    once = group.part is None and (own.unique or own.distinct >= sentence.scanned.table.rows)
    if once or side in _LITERAL:
        return Measure("highest" if descending else "lowest", (name,))
    asked = f"the {'top' if descending else 'bottom'} {most} `{group.column}`"
    raise NotUnderstood(
        f"`{group.column}` repeats: say whether the total, the mean or the highest `{name}` counts.",
        [f"{asked} by {way} `{name}`" for way in _WAYS],
    )


_LITERAL = frozenset(
    ("highest", "lowest", "largest", "smallest", "biggest", "greatest", "maximum", "minimum", "max", "min")
)


def _share(sentence: Sentence) -> Wanted | None:
    """The share of rows that meet the last condition, among those that meet the first."""
    said = r"\b(?:share|percent(?:age)?|proportion|fraction)\b"
    if rate := sentence.take(r"(?P<c>C\d+) (?:rates?|ratio|share|percentage)\b|\brate of (?P<d>C\d+)"):
        return Wanted((_rate(sentence, rate["c"] or rate["d"]),))
    if sentence.take(r"\bdistribution of (?=C\d)"):
        return _of_whole(sentence)
    if not sentence.take(said):
        return None
    sentence.take(r"\b(?:number|count) of\b")
    take_flags(sentence)
    marks = re.findall(r"F\d+", sentence.text)
    if not marks:
        return _of_whole(sentence)
    # Men in third class who survived: of three conditions the last is asked for, unless it says among what.
    apart = "among|within|where" if len(marks) > 2 else "among|within|in|of|where"
    between = rf"(?:\w+ ){{0,8}}?(?:{apart}) (?:\w+ ){{0,8}}?"
    first_asked = len(marks) > 1 and sentence.has(rf"{marks[0]} {between}{marks[1]}")
    asked = marks[0] if first_asked else marks[-1]
    sentence.take(rf"{asked}\b")
    return Wanted((Measure("share", conditions=(sentence.conditions[int(asked[1:])],)),))


def _rate(sentence: Sentence, mark: str) -> Measure:
    column = sentence.column(mark)
    flag = flag_values(column)
    if flag is None:
        raise NotUnderstood(f"A rate is of a yes or no, and `{column.name}` is none.")
    sentence.readings.append(f"The rate is the share of rows where `{column.name}` is {flag[1]}.")
    return Measure("share", conditions=(Condition(column.name, "is", flag[1]),))


def _name(sentence: Sentence) -> str:
    """The column that says who or what a row is."""
    found = [c.name for c in sentence.scanned.table.columns if "name" in words(c.name)]
    if len(found) != 1:
        raise NotUnderstood("It asks which row, and there is no one column that names the rows.")
    sentence.readings.append(f"Rows are called by `{found[0]}`.")
    return found[0]


def _of_whole(sentence: Sentence) -> Wanted:
    """How the rows are spread over the groups."""
    columns = _all_columns(sentence)
    if len(columns) + len(sentence.groups) != 1:
        raise NotUnderstood("It does not say of what the share is.")
    return Wanted((COUNT,), tuple(Group(name) for name in columns), of_whole=True)


def _count(sentence: Sentence) -> Wanted | None:
    found = sentence.take(
        r"\b(?:how many|(?:total )?number of|count of|count(?:s)?)\b(?: of)?(?: the)?(?: (?P<c>C\d+)\b)?"
    )
    if not found:
        return None
    if not found["c"]:
        return Wanted((COUNT,))
    column = sentence.column(found["c"])
    if flag_values(column):
        sentence.text = f"{found['c']} {sentence.text}"
        return Wanted((COUNT,))
    if (
        column.is_number
        and column.hint != "id"
        and not any(f"of `{column.name}` is taken" in each for each in sentence.scanned.readings)
    ):
        raise NotUnderstood(
            f"It could mean the total of `{column.name}`, its different values, or the rows that have one.",
            [
                f"the total of `{column.name}`",
                f"the number of different `{column.name}`",
                f"the number of rows where `{column.name}` is known",
            ],
        )
    return Wanted((Measure("different", (column.name,)),))


def _span(sentence: Sentence) -> Wanted | None:
    if sentence.take(
        r"\b(?:time span|time range|date range|time period|period|span|dates|range)\b"
        r"(?: of)?(?: time)?(?! of C| of the C| C)"
    ):
        sentence.take(r"\b(?:cover(?:ed|s)?|span(?:ned)?)\b")
        name = sentence.date_column().name
    elif found := sentence.take(r"\b(?:range|span) of (?:the )?(?P<c>C\d+)"):
        name = sentence.column(found["c"]).name
    else:
        return None
    return Wanted((Measure("lowest", (name,)), Measure("highest", (name,))))


def _percentile(sentence: Sentence) -> Wanted | None:
    found = sentence.take(
        r"(?P<n>N\d+|\d{1,2}(?:st|nd|rd|th))(?: %)? (?:percentile|quantile|percent quantile)s?"
        r"(?: of| for)?(?: the)? (?P<c>C\d+)"
    )
    if not found:
        return None
    said = found["n"]
    percent = sentence.number(said) if said[0] == "N" else float(re.sub(r"\D", "", said))
    percent = 100 * percent if percent <= 1 else percent
    return Wanted((Measure("percentile", (numeric(sentence.column(found["c"]), "percentile"),), percent),))


def _aggregates(sentence: Sentence) -> Wanted | None:
    """Mean fare; mean and median of fare and age; the oldest passenger."""
    one = rf"(?:{AGGREGATE})"
    found = sentence.take(
        rf"\b(?P<aggs>{one}(?:(?: ,|,)? (?:and |or )?(?:the )?{one}){{0,20}})(?: values?| amount| number)?"
        r"(?: of| in| for| is)?(?: the| all| R){0,5} (?P<cs>C\d+(?:(?: ,|,)?(?: and| or)? (?:the )?C\d+){0,20})"
    ) or sentence.take(rf"(?P<cs>C\d+) (?:on )?(?P<aggs>{one})\b")
    if found:
        functions = [AGGREGATES[name] for name in re.findall(one, found["aggs"])]
        columns = [sentence.column(mark) for mark in re.findall(r"C\d+", found["cs"])]
        return Wanted(tuple(Measure(f, (numeric(c, f),)) for c in columns for f in functions))
    return _adjective(sentence)


def _adjective(sentence: Sentence) -> Wanted | None:
    """The oldest passenger is the highest age; which name is the oldest is a ranking."""
    for said, (function, names) in ADJECTIVES.items():
        found = sentence.take(rf"(?:(?P<n>N\d+) )?\b{said}\b(?P<row> R)?(?: (?P<c>C\d+))?")
        if not found:
            continue
        column = meant(sentence, names, said)
        measure = Measure(function, (column.name,))
        if found["c"] and sentence.column(found["c"]) is column:
            return Wanted((measure,))
        how = sentence.take(r"\bhow (?P<c>C\d+)")
        if how and sentence.column(how["c"]) is not column:
            raise NotUnderstood(f"It asks for `{sentence.column(how['c']).name}` and for the {said} at once.")
        subject = found["c"] or ((asked := sentence.take(r"\b(?:which|what|whose) (?P<c>C\d+)")) and asked["c"])
        which = found["n"] or sentence.take(r"\b(?:who|which R|whose)\b")
        if subject or which or (found["row"] and not how and sentence.has(r"\b(?:what|which)\b")):
            name = sentence.column(subject).name if subject else _name(sentence)
            most = sentence.whole(found["n"], 1)
            return Wanted((measure,), (Group(name),), most, function == "highest")
        return Wanted((measure,))
    return None


def _rows_by_group(sentence: Sentence) -> Wanted | None:
    """Rows per class, without another word."""
    return Wanted((COUNT,)) if sentence.groups and sentence.has(r"\bR\b") else None


RULES: Sequence[Rule] = (
    _correlation,
    _missing,
    _different,
    _commonest,
    _percentile,
    _ranking,
    _share,
    _span,
    _aggregates,
    _count,
    _rows_by_group,
)


def numeric(column: Column, function: Function) -> str:
    """The name of a column that the function can be taken of; raises NotUnderstood."""
    plain = not column.as_text
    if function in NUMERIC and not (column.is_number and plain):
        kind = "text" if column.as_text else column.type
        raise NotUnderstood(f"`{column.name}` holds {kind}, and there is no {function} of that.")
    return column.name


def _all_columns(sentence: Sentence) -> list[str]:
    names = []
    while found := sentence.take(r"\b(?P<c>C\d+)\b"):
        names.append(sentence.column(found["c"]).name)
    return list(dict.fromkeys(names))
