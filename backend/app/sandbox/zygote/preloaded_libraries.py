"""Libraries that every cell finds imported. A line in LIBRARIES adds one."""

import gc
import importlib
import io
import pkgutil
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import app.computations
from app.computations.cell_files.workspace import CellWorkspace
from app.sandbox.kernel.calls import collapse_pages
from app.sandbox.zygote.first_computations import FIRST_COMPUTATIONS

# Without statsmodels and seaborn: their 200 memory mappings would slow every fork, and few programs use them.
LIBRARIES = (
    "duckdb",
    "matplotlib.figure",
    "matplotlib.pyplot",
    "openpyxl",
    "pandas",
    "pyarrow.parquet",
    "scipy.stats",
    "skops.io",
    "sklearn.cluster",
    "sklearn.compose",
    "sklearn.ensemble",
    "sklearn.impute",
    "sklearn.inspection",
    "sklearn.linear_model",
    "sklearn.metrics",
    "sklearn.model_selection",
    "sklearn.pipeline",
    "sklearn.preprocessing",
    "xgboost",
)


_POLICY_MODULES = ("app.sandbox.policy.custom_functions", "app.sandbox.programs.execution")
_PARTS_OF_SCIPY = (
    "scipy.linalg",
    "scipy.special",
    "scipy.optimize",
    "scipy.spatial",
    "scipy.ndimage",
    "scipy.stats.distributions",
)
"""Parts of scipy.stats, the longest first: a question that comes meanwhile waits for one and not for all."""


def load_first() -> None:
    """Import what uploads and questions need."""
    for name in (
        "duckdb",
        "pyarrow.parquet",
        "pyarrow.pandas_compat",
        "pandas",
        *map(_module_name, FIRST_COMPUTATIONS),
    ):
        importlib.import_module(name)
    importlib.import_module("app.computations.uploads.sql").prepare_databases()
    share_pages()


def remaining_steps() -> list[Callable[[], object]]:
    """List the steps that `load_first` leaves, in order: imports, then the first calls of libraries.

    Each takes 0.1 to 0.2 s of a processor, and the longest 0.4.
    """
    computations = (module.name for module in _computation_modules())
    modules = (*_PARTS_OF_SCIPY, *_parts_of_sklearn(), *LIBRARIES, *computations, *_POLICY_MODULES)
    imports = [partial(importlib.import_module, name) for name in modules]
    return [_make_first_queries, *imports, _make_first_calls, _close_funnels, share_pages, _use_large_pages]


def _parts_of_sklearn() -> list[str]:
    """The public modules of sklearn, which skops imports, all of them at once."""
    spec = find_spec("sklearn")
    parts = pkgutil.iter_modules(spec.submodule_search_locations if spec else [])
    return [f"sklearn.{part.name}" for part in parts if part.name not in ("conftest", "tests")]


def _close_funnels() -> None:
    """Guard the libraries: here, since in each cell of a program it takes 0.8 ms, most of it to copy pages."""
    from app.sandbox.policy.libraries.import_guards import close_funnels  # noqa: PLC0415 - it imports joblib

    close_funnels()


def load_libraries() -> None:
    """Import the libraries and computations, and run their lazy parts once, so that cells share the pages."""
    load_first()
    for step in remaining_steps():
        step()


def share_pages() -> None:
    """Keep the garbage collection of cells off the objects of this process.

    A collection in a cell writes to the header of every object it visits, and would copy all shared pages.
    """
    gc.collect()
    gc.freeze()


def touch_common_pages() -> None:
    """Run the first steps of nearly every request, so that a waiting cell copies the pages of these now."""
    pandas = importlib.import_module("pandas")
    pandas.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]})["a"].sum()
    # Not there yet while the zygote imports the libraries of models: such cells serve no programs.
    if program := sys.modules.get("app.sandbox.programs.execution"):
        program.rehearse()


def _module_name(computation: str) -> str:
    return f"app.computations.{computation}"


def _computation_modules() -> list[pkgutil.ModuleInfo]:
    return list(pkgutil.walk_packages(app.computations.__path__, f"{app.computations.__name__}."))


def _make_first_queries() -> None:
    """Answer two queries as cells do: what parsers and DuckDB set up at their first use
    would take each cell ten milliseconds. Best effort: a zygote without a folder for temporary files has none.
    """
    answer = importlib.import_module("app.computations.queries.answer").answer
    with suppress(OSError), tempfile.TemporaryDirectory() as folder:
        table_folder, answer_folder = Path(folder, "table"), Path(folder, "answer")
        table_folder.mkdir()
        answer_folder.mkdir()
        answer(CellWorkspace({}, table_folder), "SELECT i * 1.0 AS a, 'x' AS b FROM range(3) AS t(i)")
        question = "SELECT b, sum(a) AS a, count(*) FROM t WHERE a > 0 GROUP BY b ORDER BY 2 DESC LIMIT 5"
        answer(CellWorkspace({"t": table_folder / "result.parquet"}, answer_folder), question)
    # Those that were opened before are used up now.
    importlib.import_module("app.computations.uploads.sql").prepare_databases()


def _make_first_calls() -> None:
    """Make the first calls of pandas and matplotlib, which are slow, once and on one thread, and set them up.

    Among them is matplotlib's font cache: a cell could not write it.
    """
    # Its policy looks at matplotlib and joblib, which no upload and no question waits for.
    from app.sandbox.policy.language.compiler import compile_code  # noqa: PLC0415 - see above

    pandas = importlib.import_module("pandas")
    # As uploads are read. Without it pandas warns that it will read so, in every program that reads a workbook.
    pandas.set_option("io.excel.xlsx.reader", "calamine")
    figure = importlib.import_module("matplotlib.figure").Figure()
    frame = pandas.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    frame.groupby("b")["a"].sum()
    repr(frame)
    figure.subplots().plot([1, 2])
    figure.savefig(io.BytesIO())
    compile_code("import pandas as pd\nresult = pd.DataFrame({'a': [1]}).sum()")


def _use_large_pages() -> None:
    """Ask for pages of 2 MiB: a fork copies the page table, which is then a third less work. Best effort."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        # Private writable memory without a file: the heap, and anonymous mappings such as arenas of malloc.
        addresses, access, _, _, inode, *name = line.split()
        if access == "rw-p" and inode == "0" and name in ([], ["[heap]"]):
            start, end = (int(address, 16) for address in addresses.split("-"))
            collapse_pages(start, end)
