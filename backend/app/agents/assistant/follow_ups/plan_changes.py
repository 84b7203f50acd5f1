"""One change of a plan in words: a condition, groups, figures, a column, an order or a number of rows.

Words are read by the parser of questions, in a question about the figures of the plan: what it makes of them is
taken over into the plan.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from app.agents.assistant.follow_ups import change_phrases as phrases
from app.agents.assistant.follow_ups.changed_plan import ChangedPlan
from app.agents.assistant.follow_ups.group_bounds import bound_groups, require_bound
from app.agents.assistant.follow_ups.shown_columns import find_shown_column
from app.agents.assistant.follow_ups.sorting import sort_answer
from app.agents.assistant.follow_ups.summaries import count_behind, summarize_figures
from app.agents.assistant.follow_ups.superlatives import (
    GroupedAnswer,
    read_others,
    read_superlative,
    repeat_answer,
)
from app.agents.goals.tables.profiles import TableProfile
from app.agents.goals.words.tokenizer import words as split_words
from app.agents.questions.matching.column_mentions import find_column
from app.agents.questions.parsed_question import ParsedQuestion
from app.agents.questions.parser import parse_question
from app.agents.questions.question_reading import is_measurable
from app.agents.questions.tables.table_schemas import make_table_schemas
from app.errors import LabError
from app.number_words import read_number_words
from app.plans import editing, regrouping
from app.plans.compiler import compile_plan
from app.plans.conditions import list_columns
from app.plans.plan import DatasetSource, GroupStep, Plan, SelectStep, SortStep, WorkspaceSource
from app.plans.ranking_changes import find_ranking, turn_ranking
from app.plans.schema import TableSchema
from app.plans.standing_conditions import describe_conditions


@dataclass(frozen=True)
class ChangeReader:
    """Reads a change of a plan.

    `replaces`, `adds`: the message says that it replaces, or adds. `is_order_chosen`: the message before
    it asked for the present order.
    """

    plan: Plan
    tables: tuple[TableProfile, ...]
    replaces: bool = False
    adds: bool = False
    is_order_chosen: bool = False

    def read(self, words: str) -> ChangedPlan | None:
        """Read words by each kind of change in turn, and take the first that fits and compiles.

        Raises UnclearChange where a kind fits, and its words leave something open.
        """
        kinds: tuple[Callable[[str], ChangedPlan | None], ...] = (
            self._reverse,
            self._share,
            lambda words: summarize_figures(words, self.plan, self.columns),
            self._rename,
            self._bound,
            self._count_of_them,
            self._count_rows,
            self._readmit,
            lambda words: read_superlative(words, self.answer),
            lambda words: read_others(words, self.answer),
            lambda words: repeat_answer(words, self.answer),
            self._keep_first,
            # "Only 5" keeps rows, before its number is read as a condition.
            self._keep_number,
            self._sort,
            self._drop,
            self._group,
            self._show,
            self._restrict,
            self._figures,
            # Words alone group last: "South" is a value, and "median" a figure.
            self._group_by_column,
        )
        for kind in kinds:
            changed = kind(words)
            if changed is not None and (changed.plan == self.plan or self._compiles(changed.plan)):
                return changed
        return None

    def _reverse(self, words: str) -> ChangedPlan | None:
        if not phrases.REVERSE.fullmatch(words):
            return None
        plan = editing.reverse(self.plan)
        return ChangedPlan(plan, ["The order is turned round."]) if plan else None

    def _share(self, words: str) -> ChangedPlan | None:
        """Show the shares of the first figure of groups: `in percent`."""
        within = phrases.SHARES_WITHIN.fullmatch(words)
        if within is not None and self._names_group(within["words"]):
            plan = regrouping.show_shares_within(self.plan)
            return ChangedPlan(plan, ["With their share in all rows of each group."]) if plan else None
        if not phrases.SHARES.fullmatch(words):
            return None
        if not (self.grouping and self.grouping.keys):
            plan = regrouping.show_shares_within(self.plan)
            return ChangedPlan(plan, ["With their share in all rows."]) if plan else None
        if regrouping.SHARE in self.columns:
            return ChangedPlan(self.plan, [f"`{regrouping.SHARE}` is shown already."])
        plan = regrouping.show_shares(self.plan, self.columns)
        return ChangedPlan(plan, ["With the share of each in their sum."]) if plan else None

    @property
    def grouping(self) -> GroupStep | None:
        return editing.split_plan(self.plan).group

    def _names_group(self, words: str) -> bool:
        """Test for a noun of the groups of the plan: the name of a key, or a noun for any groups."""
        keys = self.grouping.keys if self.grouping else ()
        return words.casefold() in phrases.GROUP_NOUNS or find_column(words, [*keys]) is not None

    def _rename(self, words: str) -> ChangedPlan | None:
        match = phrases.RENAME.fullmatch(words)
        if match is None:
            return None
        new = (match["new"] or match["last"] or match["other"]).strip()
        former = match["former"] or match["place"]
        measures = [name for name in editing.split_plan(self.plan).measures if name in self.columns]
        name = find_shown_column(former, self.columns) if former else [*self.columns, *measures][-1]
        plan = regrouping.rename_column(self.plan, name, new, self.columns) if name else None
        return ChangedPlan(plan, [f"`{name}` is named `{new}`."]) if plan else None

    def _count_of_them(self, words: str) -> ChangedPlan | None:
        """Count those rows of the last answer that meet a condition: `how many of them were returned`."""
        match = phrases.COUNT_OF_THEM.fullmatch(words)
        group = editing.split_plan(self.plan).group
        if match is None or group is None or any(figure.function != "count" for figure in group.aggregations):
            return None
        for fragment in self.list_fragments(match["words"], ("that were", "that have", "that", "with", "")):
            plan = editing.restrict(self.plan, fragment)
            if plan is not None and plan != self.plan:
                return ChangedPlan(plan, [f"Only rows where {describe_conditions(fragment)}."])
        return None

    def _count_rows(self, words: str) -> ChangedPlan | None:
        """Count the rows that the last answer lists, or is made of: `how many are left`."""
        if not phrases.COUNT_OF_ROWS.fullmatch(words):
            return None
        if editing.split_plan(self.plan).group is not None:
            return count_behind(words, self.plan)
        plan = editing.count_listed(self.plan)
        return ChangedPlan(plan, ["The rows of the last answer are counted."]) if plan else None

    def _readmit(self, words: str) -> ChangedPlan | None:
        """Take back what was left out: `put Fiat back`."""
        match = phrases.PUT_BACK.fullmatch(words)
        for fragment in self.list_fragments(match["words"], phrases.PREPOSITIONS) if match else ():
            plan = editing.readmit(self.plan, fragment)
            if plan is not None:
                return ChangedPlan(plan, [f"With rows where {describe_conditions(fragment)} again."])
        return None

    def _keep_first(self, words: str) -> ChangedPlan | None:
        if phrases.ALL.fullmatch(words):
            plan = editing.keep_first(self.plan, None)
            return ChangedPlan(plan, ["All rows are shown."]) if plan else None
        extreme = phrases.EXTREME_OF_THEM.fullmatch(words)
        if extreme and (extreme["noun"] is None or self._names_group(extreme["noun"])):
            return self._limit("1", extreme["side"].casefold())
        match = phrases.FIRST.fullmatch(words)
        if match is None:
            return None
        side = (match["side"] or match["behind"] or "").casefold()
        return self._limit(match["first"] or match["number"] or match["plain"], side)

    def _keep_number(self, words: str) -> ChangedPlan | None:
        """Read a number that is no condition: `only 5`."""
        match = phrases.PLAIN_NUMBER.fullmatch(words)
        return self._limit(match["number"]) if match else None

    def _limit(self, number: str, side: str = "") -> ChangedPlan | None:
        count = read_number_words(number)
        plan = self._in_order(side) if side and side != "first" else self.plan
        limited = editing.keep_first(plan, count) if count and plan else None
        return ChangedPlan(limited, [f"The {side or 'first'} {count} are shown."]) if limited else None

    def _in_order(self, side: str) -> Plan | None:
        """The plan in the order of its first figure, the greatest or the smallest first; None without any."""
        parts = editing.split_plan(self.plan)
        is_low = side in phrases.LOW
        ranking = find_ranking(self.plan)
        if ranking is not None and (ranking.column in parts.measures or parts.group is None):
            return turn_ranking(self.plan, not is_low)
        figures = parts.measures[:1] if parts.group else editing.list_row_figures(self.plan)[-1:]
        return editing.rank_by(self.plan, figures[0], not is_low) if figures else None

    def _bound(self, words: str) -> ChangedPlan | None:
        require_bound(self.plan, words)
        match = phrases.ONLY.fullmatch(words)
        return bound_groups(self.plan, words, _parse(match["words"], self.tables) if match else None)

    def _sort(self, words: str) -> ChangedPlan | None:
        return sort_answer(self.plan, words, self.schema, self.is_order_chosen)

    def _drop(self, words: str) -> ChangedPlan | None:
        if phrases.UNFILTERED.fullmatch(words):
            plan = editing.unrestrict(self.plan)
            return ChangedPlan(plan, ["Without conditions."]) if plan else None
        match = phrases.WITHOUT.fullmatch(words)
        if match is None:
            return None
        name = find_shown_column(match["words"], self.columns)
        if name is not None:
            plan = editing.hide_column(self.plan, name, self.columns)
            return ChangedPlan(plan, [f"Without the column `{name}`."]) if plan else None
        for fragment in self.list_fragments(match["words"], phrases.PREPOSITIONS):
            plan = editing.exclude(self.plan, fragment)
            if plan is not None:
                return ChangedPlan(plan, [f"Without rows where {describe_conditions(fragment)}."])
        return None

    def _group(self, words: str) -> ChangedPlan | None:
        match = phrases.BY.fullmatch(words)
        adds = self.adds or bool(phrases.SPLITS.match(words))
        return self._regroup(match["words"], adds) if match else None

    def _group_by_column(self, words: str) -> ChangedPlan | None:
        return self._regroup(words, self.adds)

    def _regroup(self, words: str, adds: bool) -> ChangedPlan | None:
        for fragment in self.list_fragments(words, ("by",), has_keys=True):
            plan = regrouping.regroup(self.plan, fragment, adds)
            if plan is not None:
                keys = _keys(fragment)
                return ChangedPlan(plan, [f"{'Also grouped' if adds else 'Grouped'} by {_list(keys)}."])
        return None

    def _show(self, words: str) -> ChangedPlan | None:
        """Show a column: a number of groups as a figure, another as one more column."""
        match = phrases.WITH.fullmatch(words)
        if match is None:
            return None
        mentioned = self._without_groups(match["words"].replace("'s ", " "))
        if name := find_column(mentioned, self.columns):
            return ChangedPlan(self.plan, [f"`{name}` is shown already."])
        if figures := self._change_figures(mentioned, adds=True):
            return figures
        is_grouped = editing.split_plan(self.plan).group is not None
        for table in self.tables:
            name = find_column(mentioned, [column.name for column in table.columns])
            column = table.column(name) if name else None
            if column is None:
                continue
            if is_grouped and is_measurable(column):
                return self._change_figures(f"`{column.name}`", adds=True)
            fragments = self.list_fragments(f"`{column.name}`", ("by",), has_keys=True)
            for fragment in (*fragments, None):
                plan = regrouping.show_column(self.plan, column.name, fragment)
                if plan is not None:
                    return ChangedPlan(plan, [f"With the column `{column.name}`."])
        return None

    def _without_groups(self, words: str) -> str:
        """Leave out the groups of the answer where words say them again: `the head of each ward`."""
        groups = phrases.OF_EACH_GROUP.search(words)
        return words[: groups.start()] if groups and self._names_group(groups["words"]) else words

    def _restrict(self, words: str) -> ChangedPlan | None:
        match = phrases.ONLY.fullmatch(words)
        text = match["words"] if match else words
        if match and (limited := self._keep_first(text) or self._keep_number(text)):
            return limited
        prepositions = phrases.PREPOSITIONS if not phrases.STARTS_WITH_PREPOSITION.match(text) else ("",)
        for fragment in self.list_fragments(text, prepositions):
            plan = editing.restrict(self.plan, fragment, self.replaces)
            if plan is not None and plan != self.plan:
                return ChangedPlan(plan, [f"Only rows where {describe_conditions(fragment)}."])
        return None

    def _figures(self, words: str) -> ChangedPlan | None:
        return self._change_figures(words, self.adds)

    def _change_figures(self, words: str, adds: bool) -> ChangedPlan | None:
        """Read words as figures: `median`, `the cost`, `average cost`."""
        for question in self._figure_questions(words):
            parsed = _parse(question, self.tables)
            if parsed is None:
                continue
            plan = regrouping.change_figures(self.plan, parsed, adds)
            if plan is not None:
                names = _list(editing.split_plan(parsed).measures)
                return ChangedPlan(plan, [f"{'With' if adds else 'The figure is'} {names}."])
        return None

    def _figure_questions(self, words: str) -> Iterator[str]:
        group = editing.split_plan(self.plan).group
        if group is None or not group.aggregations:
            return
        figure = group.aggregations[0]
        if len(split_words(words)) <= _MAX_FUNCTION_WORDS and figure.column is not None:
            yield f"{words} of {figure.column}"
            yield f"{words} {figure.column}"
        function = _FUNCTION_WORDS.get(figure.function)
        if function and not _NAMES_FUNCTION & {*split_words(words)}:
            yield f"{function} {words}"
        yield words

    def list_fragments(self, words: str, prepositions: Sequence[str], has_keys: bool = False) -> Iterator[Plan]:
        """Plans of questions about the figures of the plan, with the words after each preposition.

        `has_keys`: those that group, else those that do not.
        """
        for figure in self._carriers():
            for preposition in prepositions:
                question = " ".join(part for part in (figure, preposition, words) if part)
                fragment = _parse(question, self.tables)
                if fragment is None or fragment.source != self.plan.source:
                    continue
                parts = editing.split_plan(fragment)
                if parts.group is not None and _is_plain(parts, has_keys):
                    yield fragment

    def _carriers(self) -> list[str]:
        """Questions for a figure of the rows of the plan's source."""
        group = editing.split_plan(self.plan).group
        columns = {column.name for table in self.tables for column in table.columns}
        figures = [
            f"total {a.column}"
            for a in (group.aggregations if group else ())
            if a.column in columns and a.function == "sum"
        ]
        figures += [f"mean {a.column}" for a in (group.aggregations if group else ()) if a.column in columns]
        source = self.plan.source
        mentioned = [f"number of {source.table}"] if isinstance(source, DatasetSource | WorkspaceSource) else []
        return [*dict.fromkeys(figures[:1]), *mentioned, "number of rows"]

    @property
    def answer(self) -> GroupedAnswer:
        return GroupedAnswer(self.plan, self.schema, self._names_group)

    @cached_property
    def schema(self) -> TableSchema:
        return compile_plan(self.plan, make_table_schemas(self.tables)).columns

    @property
    def columns(self) -> list[str]:
        return [*self.schema]

    def _compiles(self, plan: Plan) -> bool:
        try:
            compile_plan(plan, make_table_schemas(self.tables))
        except LabError:
            return False
        return True


_MAX_FUNCTION_WORDS = 3
"""Words that name a function alone: `median`, `the average`, `standard deviation`."""
_FUNCTION_WORDS: dict[str, str] = {
    "sum": "total",
    "mean": "mean",
    "median": "median",
    "min": "minimum",
    "max": "maximum",
}
_NAMES_FUNCTION = frozenset({*_FUNCTION_WORDS.values(), "average", "avg", "sum", "number", "count", "typical"})
"""Words of functions: before `average discount`, another one would ask for two figures."""


def _is_plain(parts: editing.PlanParts, has_keys: bool) -> bool:
    """Test that a fragment has one figure, nothing after its groups but their order, and groups if it should.

    Two values that are named together are groups, too: `Tools and Garden`.
    """
    keys = set(parts.group.keys) if parts.group else set()
    compared = {name for step in parts.conditions for name in list_columns(step.condition, parts.derivations)}
    is_single = parts.group is not None and len(parts.group.aggregations) == 1
    fits = bool(keys) if has_keys else keys <= compared
    return is_single and fits and all(isinstance(step, (SortStep, SelectStep)) for step in parts.ending)


def _keys(plan: Plan) -> list[str]:
    group = editing.split_plan(plan).group
    return [key for key in group.keys if not key.endswith(" number")] if group else []


def _list(names: Sequence[str]) -> str:
    return " and ".join(f"`{name}`" for name in names)


@lru_cache(maxsize=256)  # the kinds of change of one message read some questions twice
def _parse(question: str, tables: tuple[TableProfile, ...]) -> Plan | None:
    parsed = parse_question(question, tables)
    # A change is made of words that rules account for: the decoder would pass over one that names nothing.
    return parsed.plan if isinstance(parsed, ParsedQuestion) and not parsed.is_by_decoder else None
