"""Claims: shown values with their sources (step, call, JSON pointer) and the operation on them.

A claim is computed from its sources alone, so that anyone with the journal can reproduce it.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from math import floor, isfinite, log10
from typing import Any

from app.recorded_call import Json
from app.reporting.evidence import RecordedFact
from app.reporting.safe_text import make_legible

MAX_DECIMALS = 15
"""Decimals of a stated figure: a float has no more."""
MAX_ROUNDED_DECIMALS = 8
"""Decimals up to which a number counts as rounded where it was computed: a mean of many rows has more."""


@dataclass(frozen=True)
class Source:
    step: int
    call: str
    pointer: str


@dataclass(frozen=True)
class Claim:
    """`text` is `value` in its `style`, as a reader sees it; `value` is the `operation` on the sources."""

    id: str
    text: str
    value: Json
    style: str
    operation: str
    sources: tuple[Source, ...]

    def to_json(self) -> dict[str, Any]:
        first, *operands = (vars(source) for source in self.sources)
        return {
            "id": self.id,
            "text": self.text,
            "value": self.value,
            **first,
            "style": self.style,
            "operation": self.operation,
            "operands": operands,
        }


OPERATIONS: dict[str, Callable[..., Json]] = {
    "read": lambda value: value,
    "difference": lambda minuend, subtrahend: minuend - subtrahend,
    "share": lambda part, total: part / total,
    "sum": lambda *values: sum(values),
    "count": len,
    "how_many": lambda *values: len(values),
    "first_line": lambda value: str(value).strip().splitlines()[0],
}


def _score(value: float) -> str:
    """Format with three decimals between -10 and 10, and as a quantity beyond."""
    return f"{value:.3f}" if abs(value) < 10 else _quantity(value)


def _quantity(value: float) -> str:
    # Up to 1e15 a float holds each whole number, with all the digits that would be shown.
    if isinstance(value, int) or (value == int(value) and abs(value) < 1e15):
        return f"{int(value):,}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    if abs(value) >= 0.01:
        return f"{value:.{1 if abs(value) >= 10 else 3 if abs(value) < 1 else 2}f}"
    return f"{value:.3g}"


def _rounded(value: float) -> str:
    """Format a number that was rounded where it was recorded, with all of its digits."""
    return f"{int(value):,}" if value == int(value) else f"{value:,.10g}"


def _seconds(value: float) -> str:
    return f"{value:.1f} s" if value < 120 else f"{value / 60:.1f} min"


def _amount(value: float) -> str:
    """Format with three significant digits, as a reader remembers an amount: 26,900, 41.3, 0.123."""
    if not value or not isfinite(value):
        return f"{value:g}"
    rounded = round(value, 2 - floor(log10(abs(value))))
    return f"{rounded:,.0f}" if abs(rounded) >= 100 else f"{rounded:.3g}"


def _mean(value: float) -> str:
    """Format with three significant digits, but all before the point: 26,912, 521, 41.3, 0.123."""
    return f"{value:,.0f}" if abs(value) >= 100 else _amount(value)


def _percent_error(value: float) -> str:
    """Format a share with two significant digits: 12 %, 2.4 %."""
    number = f"{100 * value:.0f}" if value >= 0.1 else f"{100 * value:.2g}"
    return f"{number}\N{NO-BREAK SPACE}%"


def _share(value: float) -> str:
    """Format a share as a percentage with one decimal, a small one with two significant digits."""
    percent = 100 * value
    return f"{percent:.1f}%" if not percent or abs(percent) >= 1 else f"{percent:.2g}%"


def _exact(value: float) -> str:
    """Format with four decimals at least where there are any, or six significant digits of a small number."""
    if isinstance(value, int) or not isfinite(value) or not value:
        return f"{value:,}"
    decimals = max(4, 5 - floor(log10(abs(value))))
    text = f"{value:,.{decimals}f}"
    return text.rstrip("0").rstrip(".")


def _as_rounded(value: float) -> str:
    """Format as `exact`, but a number that was rounded where it was recorded with all of its decimals."""
    if (
        isinstance(value, int)
        or not isfinite(value)
        or not value
        or round(value, MAX_ROUNDED_DECIMALS) != value
    ):
        return _exact(value)
    return f"{value:,.{MAX_ROUNDED_DECIMALS}f}".rstrip("0").rstrip(".")


def _fixed_styles() -> Iterator[tuple[str, Callable[[Any], str]]]:
    """Yield the styles of stated figures by decimals: plain, with separators, as a percentage, scientific."""
    for decimals in range(MAX_DECIMALS + 1):
        yield f"fixed_{decimals}", partial(_format_scaled, f".{decimals}f", 1)
        yield f"grouped_{decimals}", partial(_format_scaled, f",.{decimals}f", 1)
        yield f"hundredfold_{decimals}", partial(_format_scaled, f".{decimals}f", 100)
        yield f"scientific_{decimals}", partial(_format_scaled, f".{decimals}e", 1)


def _format_scaled(pattern: str, scale: int, value: float) -> str:
    # Whole numbers keep all of their digits: a product with 1.0 would lose those beyond the fifteenth.
    return format(value if scale == 1 else value * scale, pattern)


def _of_hundred(value: float) -> str:
    """Format a share as a count of a hundred; with a decimal where a whole one would say all or none."""
    is_extreme = 0 < value < 0.005 or 0.995 <= value < 1
    return f"{100 * value:.{1 if is_extreme else 0}f} of 100"


def _moment(value: Any, pattern: str) -> str:
    """Format the date of an ISO 8601 moment; `Q` in the pattern is the quarter."""
    # The date alone: moments come with and without time and zone.
    day = date.fromisoformat(str(value)[:10])
    return day.strftime(pattern.replace("Q", f"quarter {(day.month + 2) // 3}")).lstrip("0")


def _without_zero_sign(show: Callable[[Any], str], value: Any) -> str:
    """Show a number that is rounded to zero as 0 and its unit: `-0.000` is 0, `-0.0%` is 0%."""
    text = show(value)
    return ZERO_WITH_SIGN.sub("0", text, count=1)


ZERO_WITH_SIGN = re.compile(r"^-0(?:\.0+)?(?![\d.,])")

# Stored reports are checked by the names of styles: a style never changes, a new way to show gets a new name.
_NAMED_STYLES: dict[str, Callable[[Any], str]] = {
    "integer": lambda value: f"{int(value):,}",
    "plain_integer": lambda value: str(int(value)),
    "score": _score,
    "signed_score": lambda value: ("+" if value > 0 else "") + _score(value),
    "quantity": _quantity,
    "rounded": _rounded,
    "significant": lambda value: f"{value:.4g}",
    "percent": lambda value: f"{100 * value:.1f}%",
    "points": lambda value: f"{100 * value:.3g}",
    "whole_percent": lambda value: f"{100 * value:.0f}%",
    "seconds": _seconds,
    "mebibytes": lambda value: f"{value / 1048576:,.0f} MiB",
    "milliseconds": lambda value: f"{value:.0f} ms",
    "text": lambda value: make_legible(str(value)),
    "prose": lambda value: make_legible(str(value)).replace("`", ""),
    "digest": lambda value: str(value)[:12],
    "moment": lambda value: str(value)[:16].replace("T", " ").removesuffix(" 00:00"),
    "amount": _amount,
    "percent_error": _percent_error,
    "share": _share,
    "exact": _exact,
    "of_hundred": _of_hundred,
    "day": lambda value: _moment(value, "%d %B %Y"),
    "month": lambda value: _moment(value, "%B %Y"),
    "quarter": lambda value: _moment(value, "Q of %Y"),
    "year": lambda value: str(value)[:4],
    "minute": lambda value: str(value)[:16].replace("T", " "),
    "as_rounded": _as_rounded,
    "money": lambda value: f"{value:,.2f}",
    "mean": _mean,
}

UNSIGNED_ZERO = "unsigned_zero_"
"""Before the name of a style: the same, but for numbers that are rounded to zero."""

STYLES: dict[str, Callable[[Any], str]] = {
    **_NAMED_STYLES,
    **{UNSIGNED_ZERO + name: partial(_without_zero_sign, show) for name, show in _NAMED_STYLES.items()},
    **dict(_fixed_styles()),
}


def _choose_style(style: str, value: Json) -> str:
    """Return `style`, or its form without a sign where the value is a number below zero that is shown as zero.

    Figures that an agent stated keep the style in which they were stated.
    """
    is_number = isinstance(value, float) and style in _NAMED_STYLES
    return UNSIGNED_ZERO + style if is_number and ZERO_WITH_SIGN.match(STYLES[style](value)) else style


def apply_operation(operation: str, values: Sequence[Json]) -> Json:
    """Apply an operation. Raises KeyError for an unknown one, TypeError or ZeroDivisionError for bad values."""
    return OPERATIONS[operation](*values)


@dataclass
class ClaimCollector:
    """Collects the claims of one report. Equal claims share an id; ids count in the order of first use."""

    claims: dict[tuple[str, str, tuple[Source, ...]], Claim] = field(default_factory=dict)

    def read(self, fact: RecordedFact, style: str) -> Claim:
        return self.derive("read", [fact], style)

    def derive(self, operation: str, facts: Sequence[RecordedFact], style: str) -> Claim:
        """Return the claim of an operation on facts. Raises the errors of `apply_operation`."""
        sources = tuple(Source(fact.call.seq, fact.call.key, fact.pointer) for fact in facts)
        # By the style that was asked for, which is known before the value is computed.
        key = (operation, style, sources)
        if key not in self.claims:
            value = apply_operation(operation, [fact.value for fact in facts])
            shown_in = _choose_style(style, value)
            self.claims[key] = Claim(
                f"c{len(self.claims) + 1}", STYLES[shown_in](value), value, shown_in, operation, sources
            )
        return self.claims[key]

    def all(self) -> list[Claim]:
        return list(self.claims.values())


def render_claim(claim: Mapping[str, Any], value: Json) -> str:
    """Return the text of a JSON claim for a value. Raises KeyError for an unknown style."""
    return STYLES[str(claim["style"])](value)
