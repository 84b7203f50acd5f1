"""Questions to tables: rows to look at, SQL under the policy, statistics. Parquet in, JSON or Parquet out."""

import datetime as dt
import math
from decimal import Decimal

from app.computations.bench import Bench, JsonValue
from app.computations.uploads import sql
from app.computations.uploads.profile import TYPES

_MEMORY_BYTES = 384 << 20
_CELL_TEXT = 2_000


def preview(bench: Bench, limit: int = 20, offset: int = 0) -> dict[str, JsonValue]:
    """Rows of the input `table` in file order: `{"columns", "rows", "offset", "total"}`."""
    source = f"read_parquet({sql.text(bench.inputs['table'])})"
    with sql.connect(bench.output, bench.threads, _MEMORY_BYTES) as connection:
        (total,) = connection.execute(f"SELECT count(*) FROM {source}").fetchone() or (0,)  # noqa: S608
        found = connection.execute(f"SELECT * FROM {source} LIMIT ? OFFSET ?", [limit, offset])  # noqa: S608
        columns = [{"name": name, "type": TYPES.get(str(kind), "text")} for name, kind, *_ in found.description]
        rows = [[plain(cell) for cell in row] for row in found.fetchall()]
    return {"columns": list(columns), "rows": list(rows), "offset": offset, "total": total}


def plain(cell: object) -> JsonValue:
    """A cell as JSON: ISO times, finite numbers, text cut at 2,000 characters."""
    match cell:
        case None | bool() | int():
            return cell
        case float():
            return cell if math.isfinite(cell) else None
        case Decimal():
            return float(cell)
        case dt.datetime() | dt.date() | dt.time():
            return cell.isoformat()
        case _:
            return str(cell)[:_CELL_TEXT]
