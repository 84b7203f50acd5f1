"""The section with the backtest of the forecasts on the hold-out."""

from app.reporting.document.elements import Bullets, Callout, Element, Paragraph, ReportTable, Section, Tone
from app.reporting.document.inline_elements import Name, Text
from app.reporting.draft import EMPTY_CELL, ReportDraft
from app.reporting.evidence import RecordedFact, TypedFact, items_at
from app.reporting.fact_records import BacktestRecord

TRADES_FILE = "backtest.csv"
_FIGURES = ("backtest_price", "backtest_signal", "backtest_equity", "backtest_drawdown")
_COLUMNS: tuple[tuple[str, str, str], ...] = (
    ("Return", "total_return", "percent"),
    ("Sharpe", "sharpe", "score"),
    ("Sortino", "sortino", "score"),
    ("Maximum drawdown", "max_drawdown", "percent"),
    ("Hit rate", "hit_rate", "percent"),
    ("Exposure", "exposure", "percent"),
    ("Turnover a year", "turnover", "quantity"),
)


def section(draft: ReportDraft) -> Section | None:
    backtest = draft.facts.backtest
    if backtest is None:
        return None
    verdict = backtest.at("verdict")
    tone: Tone = "good" if backtest.content.edge else "warn"
    blocks: list[Element] = [Callout(tone, (draft.read(verdict),))] if verdict else []
    blocks += [
        Paragraph(_trading_rules(draft, backtest)),
        _performance_table(draft, backtest),
        Paragraph(_column_notes(draft, backtest)),
    ]
    blocks += [Paragraph(_significance(draft, backtest))]
    blocks += [*_breakdowns(draft, backtest), *_notes(draft, backtest), *draft.galleries(*_FIGURES)]
    return Section("trading", "Backtest", blocks)


def edge_verdict(draft: ReportDraft) -> Text:
    """Return the verdict on the trading edge in one sentence; empty if there is no backtest."""
    verdict = draft.facts.backtest.at("verdict") if draft.facts.backtest else None
    return (draft.read(verdict),) if verdict else ()


def _trading_rules(draft: ReportDraft, backtest: TypedFact[BacktestRecord]) -> Text:
    fee, slip = backtest.at("terms", "fee_bps"), backtest.at("terms", "slippage_bps")
    text: Text = (
        "Simulated over ",
        *draft.render(backtest.at("bars"), "integer"),
        " bars of the hold-out. Positions are decided and traded at the close of a bar and earn from then on. ",
        *_holding_rule(draft, backtest),
        " Fees of ",
        *draft.render(fee, "significant"),
        " and slippage of ",
        *draft.render(slip, "significant"),
        " basis points are paid on every trade.",
    )
    even = backtest.at("break_even_bps")
    if even is None:
        return (*text, " Nothing was traded.")
    # Costs at which nothing is gained are below zero where nothing was gained before them.
    if even.value <= 0:
        return (*text, " The strategy loses even without costs.")
    return (
        *text,
        " The break-even costs are ",
        *draft.render(even, "quantity"),
        " basis points a trade.",
    )


def _holding_rule(draft: ReportDraft, backtest: TypedFact[BacktestRecord]) -> Text:
    """Describe the holding period of a trade."""
    bars = draft.render(backtest.at("horizon"), "integer")
    bars = (*bars, " bar" if backtest.content.horizon == 1 else " bars")
    if backtest.at("barriers") is None:
        return ("Each forecast is held for ", *bars, "; forecasts that overlap share the capital.")
    within = bool(backtest.content.within_bars)
    return (
        "Each trade is closed ",
        "as soon as the price is " if within else "at the first close that is ",
        *draft.render(backtest.at("barriers", "take_profit"), "percent"),
        " higher or ",
        *draft.render(backtest.at("barriers", "stop_loss"), "percent"),
        " lower than where it began, after ",
        *bars,
        " at the latest; trades that overlap share the capital.",
        " If a bar reaches both, the stop-loss counts; if it opens beyond one, the trade is closed at the open."
        if within
        else "",
    )


def _performance_table(draft: ReportDraft, backtest: RecordedFact) -> ReportTable:
    strategy = backtest.at("strategy")
    strategies: list[tuple[Text, RecordedFact]] = [(("Forecasts",), strategy)] if strategy else []
    strategies += [
        ((Name(baseline.text("name"), code=False),), baseline) for baseline in items_at(backtest, "baselines")
    ]
    rows: list[list[Text]] = [
        [name, *(_cell(draft, strategy_fact.at(key), style) for _, key, style in _COLUMNS)]
        for name, strategy_fact in strategies
    ]
    heads = ("", *(head for head, _, _ in _COLUMNS))
    return ReportTable(
        heads, rows, "After costs, on the hold-out", numeric=tuple(range(1, len(heads))), marked=[0]
    )


def _column_notes(draft: ReportDraft, backtest: RecordedFact) -> Text:
    """Explain the columns and the costs that are not modelled."""
    return (
        "Sharpe and Sortino ratios are those of a year of ",
        *draft.render(backtest.at("bars_per_year"), "integer"),
        " bars, without a risk-free rate. The hit rate is the share of bars with a position that gain before"
        " costs, exposure the mean share of the capital invested, turnover how often the capital is traded. All"
        " of it is bar by bar in ",
        Name(TRADES_FILE),
        ". Not modelled: costs of borrowing and funding, market impact, and orders that are not filled.",
    )


def _cell(draft: ReportDraft, fact: RecordedFact | None, style: str) -> Text:
    return draft.render(fact, style) if fact else EMPTY_CELL


def _significance(draft: ReportDraft, backtest: TypedFact[BacktestRecord]) -> Text:
    error, chance = backtest.at("strategy", "sharpe_error"), backtest.at("overfitting")
    text: Text = (
        "The standard error of the Sharpe ratio is ",
        *draft.render(error, "score"),
        " a year; the true one is above zero with a probability of ",
        *draft.render(backtest.at("probabilistic_sharpe"), "score"),
        ". ",
    )
    if not backtest.content.trials:
        return (*text, "No strategy was selected on training rows, so there is no selection bias to correct.")
    text = (
        *text,
        *draft.render(backtest.at("trials"), "integer"),
        " strategies were tried on the training rows, where the chosen one has a Sharpe ratio of ",
        *draft.render(backtest.at("track_sharpe"), "score"),
        "; the best of as many strategies without skill is expected to show ",
        *draft.render(backtest.at("luck_sharpe"), "score"),
        ". The deflated Sharpe ratio, the probability that the true one is above this expectation, "
        "from all out-of-sample"
        " rows, is ",
        *draft.render(backtest.at("deflated_sharpe"), "score"),
        ".",
    )
    if chance is None:
        return text
    return (
        *text,
        " The probability of backtest overfitting, that the best strategy in one half of the "
        "training period is below"
        " the median in the other half, is ",
        *draft.render(chance, "score"),
        ".",
    )


def _breakdowns(draft: ReportDraft, backtest: RecordedFact) -> list[Element]:
    """Tabulate the results by market regime and by coin."""
    tables: list[Element] = []
    for key, name, title in (("by_regime", "name", "By market regime"), ("by_coin", "coin", "By coin")):
        groups = items_at(backtest, key)
        rows: list[list[Text]] = [
            [
                draft.render(group.at(name)),
                draft.render(group.at("bars"), "integer"),
                _cell(draft, group.at("total_return"), "percent"),
                _cell(draft, group.at("sharpe"), "score"),
                _cell(draft, group.at("max_drawdown"), "percent"),
            ]
            for group in groups
        ]
        if rows:
            heads = ("", "Bars", "Return", "Sharpe", "Maximum drawdown")
            tables.append(ReportTable(heads, rows, title, numeric=(1, 2, 3, 4)))
    return tables


def _notes(draft: ReportDraft, backtest: RecordedFact) -> list[Element]:
    notes: list[Text] = [(draft.read(note),) for note in items_at(backtest, "notes")]
    return [Bullets(notes)] if notes else []
