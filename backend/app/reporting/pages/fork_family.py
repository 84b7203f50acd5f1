"""The other members of a family of forks, and what several looks at one hold-out mean for the scores."""

from collections.abc import Mapping
from typing import Any

from app.reporting.document.blocks import Sibling, SiblingsBlock
from app.reporting.document.inline_elements import Name, Piece, Text
from app.reporting.draft import ReportDraft, join_texts
from app.reporting.evidence import RecordedFact, items_at
from app.reporting.metrics import describe_metric


def block(draft: ReportDraft) -> SiblingsBlock | None:
    """Tabulate the scores of the other members, with intervals that hold together with that of this one."""
    members = items_at(draft.facts.final, "family", "siblings")
    return SiblingsBlock([_sibling(draft, member) for member in members]) if members else None


def looks(draft: ReportDraft) -> list[Text]:
    """State the number of looks at the hold-out, the level of the intervals, and what no interval covers."""
    family = draft.facts.final.at("family") if draft.facts.final else None
    if family is None:
        return []
    text: list[Piece] = ["This is look ", *draft.render(family.at("looks"), "integer"), " at this hold-out: "]
    text += ["studies that are forks of one another share its rows. Intervals are wider, at a level of "]
    text += [*draft.render(family.at("level"), "percent"), " each, so that all looks hold together."]
    adapted = family.at("forks_after_look")
    if adapted is None or not adapted.value:
        return [tuple(text)]
    warning: Text = (
        "Forks that were begun after a result on the hold-out was known: ",
        draft.read(adapted, "integer"),
        ". A choice that follows such a result adapts to these rows, which no interval from them covers: check "
        "the model on rows that nobody has seen.",
    )
    return [tuple(text), warning]


def _sibling(draft: ReportDraft, member: RecordedFact) -> Sibling:
    metric = describe_metric(member.text("metric"))
    bounds = draft.interval(member, metric.style)
    score: list[Piece] = [Name(metric.label, code=False), " ", *draft.score(member.at("value"), metric.style)]
    score += [" (interval ", *bounds, ")"] if bounds else []
    return Sibling((Name(member.text("session")),), _difference(member), tuple(score))


def _difference(member: RecordedFact) -> Text:
    """Describe the change of a member by the names of what it changed."""
    change = member.at("change")
    names = _changed_names(change.value) if change and isinstance(change.value, dict) else []
    return join_texts([(Name(name),) for name in names]) if names else ("nothing",)


def _changed_names(change: Mapping[str, Any]) -> list[str]:
    """Name the settings and preferences of a change, otherwise its kind: `note`, `answer`."""
    names: list[str] = []
    for kind, values in change.items():
        # An answer may be an object of its own, whose keys name no settings.
        names += list(values) if isinstance(values, dict) and kind != "answer" else [kind]
    return names
