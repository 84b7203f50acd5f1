"""Made rows as a SELECT: values are hashes of row, column and seed, so they are the same on every run."""

from sqlglot import exp

from app.plans import plan as p
from app.plans.compile_expression import Typed, compile_scalar
from app.plans.expressions import parse_datetime
from app.plans.functions import call, cast
from app.plans.schema import take_name
from app.plans.select_draft import Draft, column

_STEPS_OF_UNIT = 1_000_003
"""A prime: the unit interval in about a million values, by which a hash of 64 bits is taken modulo."""


def range_table(rows: int, alias: str) -> exp.Table:
    """A table of one column `n` with 0 to rows - 1."""
    names = exp.TableAlias(this=exp.to_identifier(alias), columns=[exp.to_identifier("n", quoted=True)])
    return exp.Table(this=call("range", exp.Literal.number(rows)), alias=names)


def generate_draft(source: p.GenerateSource, alias: str, place: str) -> Draft:
    """Build the columns of `generate`."""
    columns: dict[str, Typed] = {}
    folded_names: set[str] = set()
    for number, generated in enumerate(source.columns):
        take_name(generated.name, folded_names, f"{place}.columns[{number}].name")
        columns[generated.name] = _column(generated, column(alias, "n"), source.seed, number)
    return Draft(range_table(source.rows, alias), columns)


def _column(generated: p.GeneratedColumn, row: exp.Expr, seed: int, number: int) -> Typed:
    digest = call("hash", row, exp.Literal.number(seed), exp.Literal.number(number))

    def below(size: int) -> exp.Expr:
        return cast(exp.Mod(this=digest, expression=exp.Literal.number(size)), "BIGINT")

    low, high = generated.low, generated.high
    match generated.type:
        case "index":
            return Typed(row, "integer")
        case "integer":
            start = compile_scalar(int(low)).tree
            return Typed(exp.Add(this=start, expression=below(int(high) - int(low) + 1)), "integer")
        case "datetime":
            return Typed(_moments(generated, row), "datetime")
        case "boolean":
            return Typed(exp.EQ(this=below(2), expression=exp.Literal.number(1)), "boolean")
        case "choice":
            values = [compile_scalar(value) for value in generated.values]
            ifs = [exp.If(this=exp.Literal.number(n), true=value.tree) for n, value in enumerate(values)]
            return Typed(exp.Case(this=below(len(values)), ifs=ifs), values[0].type)
    unit = exp.Div(
        this=below(_STEPS_OF_UNIT),
        expression=compile_scalar(float(_STEPS_OF_UNIT)).tree,
        typed=False,
        safe=False,
    )
    scaled = exp.Mul(this=exp.Paren(this=unit), expression=compile_scalar(float(high - low)).tree)
    return Typed(exp.Add(this=compile_scalar(float(low)).tree, expression=exp.Paren(this=scaled)), "number")


_UNITS: dict[str, tuple[str, int]] = {
    "minute": ("to_minutes", 1),
    "hour": ("to_hours", 1),
    "day": ("to_days", 1),
    "week": ("to_days", 7),
    "month": ("to_months", 1),
    "quarter": ("to_months", 3),
    "year": ("to_years", 1),
}
"""Unit -> DuckDB's function of an interval, and its steps in a unit."""


def _moments(generated: p.GeneratedColumn, row: exp.Expr) -> exp.Expr:
    """The start, and one unit later for each row."""
    function, size = _UNITS[generated.unit]
    steps = exp.Mul(this=cast(row, "INT"), expression=exp.Literal.number(size))
    start = cast(exp.Literal.string(parse_datetime(generated.start).isoformat(sep=" ")), "TIMESTAMP")
    # Not `date_add`: sqlglot reads it as another expression than it wrote, when the text is parsed again.
    return exp.Add(this=start, expression=call(function, steps))
