"""What was tried: every candidate beside the baseline, and what tuning changed."""

from collections.abc import Sequence

from app.reporting.claims import Claim
from app.reporting.document import Block, Name, Paragraph, Section, Table, Text
from app.reporting.evidence import Fact, parts
from app.reporting.facts import TUNING_NODE
from app.reporting.sections.context import NOTHING, Draft, listed

_MAX_TRIES = 12
_SHOWN, _WORTH_FOLDING = 6, 3


def leaderboard(draft: Draft) -> Section | None:
    comparison = draft.found.comparison
    board = comparison.at("leaderboard") if comparison else None
    if comparison is None or board is None:
        return _fits_only(draft)
    entries = board.items()
    tied = folded(entries, comparison.text("chosen"))
    shown = [entry for entry in entries if entry not in tied]
    direction = "higher is better" if draft.metric.greater_is_better else "lower is better"
    opening = ("Mean over the folds by ", draft.metric_name, "; ", direction, ". ")
    table = _table(draft, comparison, shown)
    blocks: list[Block] = [Paragraph((*opening, *draft.shown(comparison.at("reason")))), table]
    if tied:
        count = draft.ledger.derive("how_many", [entry.at("name") or entry for entry in tied], "integer")
        blocks.append(Paragraph(("And ", count, " more within noise of the best: see every candidate below.")))
    blocks += [*_weights(draft), *_left_out(draft, comparison)]
    return Section("trials", "What was tried", [*blocks, *draft.pictures("leaderboard")])


def every_candidate(draft: Draft) -> Section | None:
    """All of them, where not all are shown among what was tried."""
    comparison = draft.found.comparison
    entries = parts(comparison, "leaderboard")
    if comparison is None or not folded(entries, comparison.text("chosen")):
        return None
    return Section("candidates", "Every candidate", [_table(draft, comparison, entries)])


def folded(entries: Sequence[Fact], chosen: str) -> list[Fact]:
    """Those that cannot be told from the best, but for the first ones, the chosen one and what has a weight."""
    tied = [
        entry
        for entry in entries[_SHOWN:]
        if (told := entry.at("distinguishable")) is not None
        and told.value is False
        and not (weight.value if (weight := entry.at("weight")) else 0)
        and entry.text("name") != chosen
        and entry.text("kind") != "baseline"
    ]
    return tied if len(tied) >= _WORTH_FOLDING else []


def _table(draft: Draft, comparison: Fact, entries: Sequence[Fact]) -> Table:
    chosen = comparison.text("chosen")
    return Table(
        ("Candidate", "Score", "Behind the best", "Fit", "Remark"),
        [_row(draft, entry, comparison.text("best")) for entry in entries],
        "Cross-validated on the training rows; score: mean and standard deviation over folds; marked: chosen",
        numeric=(1, 2, 3),
        marked=[place for place, entry in enumerate(entries) if entry.text("name") == chosen],
    )


def tuning(draft: Draft) -> Section | None:
    tries = [fit for fit in draft.found.fits if _is_tuning(fit)]
    if not tries:
        return None
    ranked = sorted(tries, key=lambda fit: _rank(fit, draft.metric.greater_is_better))[:_MAX_TRIES]
    count = "Tuning tried other hyperparameters on the same folds. The best of them, best first:"
    rows = [[draft.shown(fit.at("name")), _spread(draft, fit), _settings(draft, fit)] for fit in ranked]
    table = Table(("Try", "Score", "Hyperparameters"), rows, numeric=(1,))
    return Section("tuning", "Tuning", [Paragraph((count,)), table])


def _row(draft: Draft, entry: Fact, best: str) -> list[Text]:
    is_best = entry.text("name") == best
    return [
        draft.shown(entry.at("name")),
        _spread(draft, entry),
        NOTHING if is_best else _behind(draft, entry),
        draft.shown(entry.at("fit_s"), "seconds"),
        ("best",) if is_best else _remark(draft, entry),
    ]


def _spread(draft: Draft, scored: Fact) -> Text:
    std = scored.at("std")
    return (*draft.score(scored.at("score")), *((" ± ", draft.read(std, draft.metric.style)) if std else ()))


def _behind(draft: Draft, entry: Fact) -> Text:
    bounds = draft.interval(entry, draft.metric.style)
    return (*draft.score(entry.at("difference")), *((" (", *bounds, ")") if bounds else ()))


def _remark(draft: Draft, entry: Fact) -> Text:
    limited, beats = entry.at("limited"), entry.at("beats_baseline")
    if limited:
        return (draft.read(limited),)
    if beats is not None and beats.value is False:
        return ("no better than the baseline",)
    distinguishable = entry.at("distinguishable")
    if distinguishable is not None and distinguishable.value is False:
        return ("tied with best",)
    return ()


def _weights(draft: Draft) -> list[Block]:
    """What an ensemble is made of, the weightiest first."""
    weights = draft.found.blend.at("weights") if draft.found.blend else None
    if weights is None:
        return []
    ranked = sorted(weights.children(), key=lambda pair: -pair[1].value)
    shares = [(Name(name), " ", draft.read(weight, "whole_percent")) for name, weight in ranked if weight.value]
    text = (
        "The chosen model is an average of several, weighted by how they do together on rows that did not "
        "teach them: ",
        *listed(shares),
        ". Its own score is of weights that the judged rows had no say in.",
    )
    return [Paragraph(text)]


def _left_out(draft: Draft, comparison: Fact) -> list[Block]:
    texts = [
        (*draft.shown(each.at("name")), " (", *draft.shown(each.at("reason")), ")")
        for each in parts(comparison, "left_out")
    ]
    return [Paragraph(("Left out, because they did not finish: ", *listed(texts), "."))] if texts else []


def _fits_only(draft: Draft) -> Section | None:
    """A session that ended before its candidates were compared still shows what was fitted."""
    fits = draft.found.fits
    if not fits:
        return None
    rows = [[draft.shown(fit.at("name")), _spread(draft, fit)] for fit in fits]
    table = Table(("Candidate", "Score"), rows, "Cross-validated on the training rows", numeric=(1,))
    return Section("trials", "What was tried", [Paragraph(("Fitted, and not yet compared:",)), table])


def _is_tuning(fit: Fact) -> bool:
    return fit.call.node == TUNING_NODE or fit.call.tool == "tune_hyperparameters"


def _rank(fit: Fact, greater_is_better: bool) -> float:
    score = fit.at("score")
    if score is None:
        return float("inf")
    return float(-score.value if greater_is_better else score.value)


def _settings(draft: Draft, fit: Fact) -> Text:
    chosen = fit.at("hyperparameters")
    texts: list[Text] = [
        (Name(name), " ", _setting(draft, value)) for name, value in (chosen.children() if chosen else ())
    ]
    return listed(texts) if texts else ("defaults",)


def _setting(draft: Draft, value: Fact) -> Claim:
    return draft.read(value, "significant" if isinstance(value.value, float) else "text")
