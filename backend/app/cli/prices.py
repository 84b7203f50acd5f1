"""`labcrew prices`: import, list, summarise and delete bars."""

import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.sessions.run import AsJson, Key, Url
from app.cli.terminal.sanitize import harmless
from app.settings import load_settings

if TYPE_CHECKING:
    from app.cli.api_client.client import LabClient
    from app.cli.api_client.responses import ImportResult
    from app.datasets.bar_sources.source import BarSource

app = typer.Typer(help="Bars of prices: import, fetch, list, stats, delete.", no_args_is_help=True)

_MAX_EXAMPLE_ROWS = 10
"""Row numbers printed per reason, so that a reason stays one line."""

Coin = Annotated[str | None, typer.Option(help="The coin of a file without a column that says it.")]
Interval = Annotated[str | None, typer.Option(help="1m, 5m, 1h, 1d, ...; by itself found from the times.")]
TimeZone = Annotated[str | None, typer.Option(help="Where the file's clock stood; UTC without it.")]
Shared = Annotated[bool, typer.Option("--shared", help="For all users; admins only.")]
Since = Annotated[str | None, typer.Option(help="First time, as 2024-01-01.")]
Until = Annotated[str | None, typer.Option(help="Last time.")]


@app.command("import")
def import_(
    files: Annotated[list[Path], typer.Argument(help="CSV, Parquet, Feather, JSON or Excel.")],
    coin: Coin = None,
    interval: Interval = None,
    time_zone: TimeZone = None,
    shared: Shared = False,
    url: Url = None,
    key: Key = None,
    as_json: AsJson = False,
) -> None:
    """Import files of bars, and say what is wrong with which row.

    A file is imported whole or not at all; the same one again changes nothing.
    """
    from app.datasets.bar_sources.file import FileSource  # noqa: PLC0415 - see `_connected`

    sources = [FileSource(path, coin, interval) for path in files]
    options = _without_none(time_zone=time_zone, shared="true" if shared else None)
    with _connected(url, key) as client:
        for source in sources:
            _import(client, source, options, as_json)


@app.command("fetch")
def fetch(
    exchange: Annotated[str, typer.Argument(help="An exchange by CCXT's name, as binance.")],
    symbols: Annotated[list[str], typer.Argument(help="Pairs, as BTC/USDT.")],
    since: Annotated[datetime, typer.Option(help="First time, in UTC.")],
    until: Annotated[datetime | None, typer.Option(help="Last time, in UTC; by itself now.")] = None,
    interval: Annotated[str, typer.Option(help="As the exchange names it: 1m, 5m, 1h, ...")] = "5m",
    shared: Shared = False,
    url: Url = None,
    key: Key = None,
    as_json: AsJson = False,
) -> None:
    """Fetch bars from an exchange to this machine (the extra `ccxt`), and import them."""
    from app.datasets.bar_sources.exchange import ExchangeSource, open_exchange  # noqa: PLC0415 - see `_connected`

    begin, end = since.replace(tzinfo=UTC), until.replace(tzinfo=UTC) if until else datetime.now(UTC)
    options = _without_none(shared="true" if shared else None)
    with closing(open_exchange(exchange)) as connection, _connected(url, key) as client:
        for symbol in symbols:
            _import(client, ExchangeSource(connection, symbol, interval, begin, end), options, as_json)


@app.command("list")
def list_(url: Url = None, key: Key = None, as_json: AsJson = False) -> None:
    """List coins and intervals."""
    with _connected(url, key) as client:
        series = client.coins()
    if as_json:
        typer.echo(_json([row.to_json() for row in series]))
        return
    if not series:
        typer.echo("There are no bars yet. Import some: labcrew prices import FILE.csv", err=True)
    for row in series:
        owner = "shared" if row.shared else "yours"
        typer.echo(f"{row.coin}\t{row.interval}\t{row.bars:,}\t{row.first}\t{row.last}\t{owner}")


@app.command("stats")
def stats(
    coin: Annotated[str | None, typer.Argument(help="One coin; without it all.")] = None,
    interval: Interval = None,
    since: Since = None,
    until: Until = None,
    url: Url = None,
    key: Key = None,
    as_json: AsJson = False,
) -> None:
    """Sum bars up: how many, gaps, range, mean and deviation of the closes, volume."""
    filters = _without_none(coin=coin, interval=interval, start=since, end=until)
    with _connected(url, key) as client:
        rows = client.price_statistics(filters)
    if as_json:
        typer.echo(_json([row.to_json() for row in rows]))
        return
    if not rows:
        typer.echo("No bars are like that. What there is: labcrew prices list", err=True)
    for row in rows:
        typer.echo(f"{row.coin} {row.interval}, {row.first} to {row.last}")
        typer.echo(f"  {row.bars:,} bars, {row.missing_bars:,} missing in {row.gaps:,} gaps")
        typer.echo(f"  close {row.mean_close:.6g} ± {row.std_close or 0.0:.6g}, change {row.change:+.2%}")
        typer.echo(f"  from {row.lowest:.6g} to {row.highest:.6g}, volume {row.total_volume:.6g}")


@app.command("delete")
def delete(
    coin: str,
    interval: Interval = None,
    shared: Shared = False,
    url: Url = None,
    key: Key = None,
) -> None:
    """Delete your own bars of a coin: of one interval, or of all."""
    filters = _without_none(coin=coin, interval=interval, shared="true" if shared else None)
    with _connected(url, key) as client:
        typer.echo(f"{client.delete_prices(filters):,} bars are deleted.")


def _import(client: "LabClient", source: "BarSource", options: dict[str, str], as_json: bool) -> None:
    with tempfile.TemporaryDirectory(prefix="labcrew-bars-") as folder:
        bars = source.fetch(Path(folder), _show_progress)
        source_options = _without_none(coin=bars.coin, interval=bars.interval)
        loaded = client.import_prices(bars.path, source_options | options, _show_progress)
        _show_progress(1.0, "", last=True)
        typer.echo(_json(loaded.to_json()) if as_json else "\n".join(_report(bars.path.name, loaded)))


def _without_none(**options: str | None) -> dict[str, str]:
    return {name: value for name, value in options.items() if value is not None}


def _report(name: str, loaded: "ImportResult") -> Iterator[str]:
    """Report the import of a file: counts, series, rejected rows by reason, notes."""
    counts = f"{loaded.rows:,} rows, {loaded.added_bars:,} new bars, {loaded.changed_bars:,} changed"
    yield f"{harmless(name)}: {counts}"
    for series in loaded.series:
        missing_bars = series.summary.missing_bars
        gaps = f", {missing_bars:,} missing" if missing_bars else ""
        yield f"  {series.coin} {series.interval}: {series.bars:,} bars{gaps}"
    for reason, count in loaded.rejected.reasons.items():
        rows = [str(example.row) for example in loaded.rejected.examples if example.reason == reason]
        more = ", ..." if count > _MAX_EXAMPLE_ROWS else ""
        yield f"  left out, {reason}: {count:,} (rows {', '.join(rows[:_MAX_EXAMPLE_ROWS])}{more})"
    for note in loaded.format.notes:
        yield f"  {harmless(note)}"


def _show_progress(fraction: float, text: str, last: bool = False) -> None:
    """Show progress in one line that is overwritten; nothing if stderr is no terminal."""
    if sys.stderr.isatty():
        line = "" if last else f"{fraction:4.0%} {harmless(text)}"
        sys.stderr.write(f"\r\x1b[K{line}")
        sys.stderr.flush()


def _json(value: object) -> str:
    return json.dumps(value, indent=2)


@contextmanager
def _connected(url: str | None, key: str | None) -> Iterator["LabClient"]:
    from app.cli.connection.service_connection import connected  # noqa: PLC0415 - half a second that `--help` need not wait

    with connected(load_settings(), url, key, lambda text: typer.echo(text, err=True)) as client:
        yield client
