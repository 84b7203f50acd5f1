"""The contract of `sandbox.contract`, kept by every provider."""

import asyncio
from pathlib import Path

import pandas as pd
import pytest
from tests.patience import HANG_GUARD_S

from app.sandbox.exchange.contract import Code, Computation, End, Limits
from app.sandbox.exchange.program_variables import ProgramVariables
from app.sandbox.outputs.scratch_folders import LOCK_NAME
from app.sandbox.provider.cell_provider import SOCKET_FOLDER

from .conftest import Cells

pytestmark = pytest.mark.asyncio(loop_scope="session")

MIB = 1 << 20


async def test_a_computation_answers_with_value_output_and_usage(cells: Cells) -> None:
    outcome = await cells.compute("echo", value={"a": [1, None]})
    assert (outcome.end, outcome.value) == (End.RETURNED, {"a": [1, None]})
    assert outcome.stdout == "echo {'a': [1, None]}\n"
    assert outcome.usage.wall_s > 0
    assert outcome.usage.cpu_s > 0


async def test_inputs_are_found_by_name(cells: Cells, tmp_path: Path) -> None:
    (tmp_path / "blob").write_bytes(b"12345")
    outcome = await cells.run(Computation("cell_fixtures.sizes"), {"table.parquet": tmp_path / "blob"})
    assert outcome.value == {"table.parquet": 5}


async def test_regular_files_are_listed_and_hidden_ones_left_out(cells: Cells) -> None:
    outcome = await cells.compute("leave", names=["a.csv", "deep/b.png", ".hidden", ".git/config"])
    assert outcome.files == ("a.csv", "deep/b.png")


async def test_progress_arrives_in_order_while_it_runs(cells: Cells) -> None:
    seen: list[tuple[float, str]] = []
    await cells.run(
        Computation("cell_fixtures.steps", {"count": 4}), on_progress=lambda *step: seen.append(step)
    )
    assert seen == [(0.25, "step 1"), (0.5, "step 2"), (0.75, "step 3"), (1.0, "step 4")]


async def test_a_refusal_keeps_kind_code_and_facts(cells: Cells) -> None:
    outcome = await cells.compute("refuse")
    assert outcome.end is End.REFUSED
    assert outcome.fault is not None
    assert (outcome.fault.kind, outcome.fault.code) == ("not_found", "no_such_thing")
    assert outcome.fault.facts == {"nearest": ["thing"]}


async def test_an_exception_is_named_and_traced_on_stderr(cells: Cells) -> None:
    outcome = await cells.compute("fail")
    assert outcome.end is End.RAISED
    assert outcome.fault is not None
    assert outcome.fault.code == "ValueError"
    assert "this went wrong" in outcome.stderr


async def test_a_crash_is_an_outcome(cells: Cells) -> None:
    assert (await cells.compute("crash")).end is End.DIED


async def test_a_time_out_keeps_the_output_so_far(cells: Cells) -> None:
    for time_s in (0.3, 3, 30, HANG_GUARD_S):  # until it was quick enough to say something
        outcome = await cells.compute("spin", Limits(time_s=time_s))
        assert outcome.end is End.TIMED_OUT
        if outcome.stdout:
            break
    assert outcome.stdout == "spinning\n"


async def test_sleep_counts_against_the_deadline(cells: Cells) -> None:
    assert (
        await cells.compute("rest", Limits(time_s=0.3), seconds=10 * HANG_GUARD_S)
    ).end is End.TIMED_OUT  # clock: its expiry is what is tested


async def test_memory_is_bounded(cells: Cells) -> None:
    limits = Limits(memory_bytes=200 * MIB)
    assert (await cells.compute("allocate", limits, size_bytes=100 * MIB)).end is End.RETURNED
    assert (await cells.compute("allocate", limits, size_bytes=300 * MIB)).end is End.OUT_OF_MEMORY


async def test_peak_memory_is_the_cells_own(cells: Cells) -> None:
    small = await cells.compute("echo", value=1)
    large = await cells.compute("allocate", size_bytes=100 * MIB)
    assert small.usage.peak_memory_bytes < 30 * MIB
    # Less the pages that a waiting cell had touched already, which the kernel counts in batches.
    assert 98 * MIB <= large.usage.peak_memory_bytes < 140 * MIB


async def test_disk_is_bounded(cells: Cells) -> None:
    outcome = await cells.compute("leave", Limits(disk_bytes=MIB), names=["big"], size_bytes=2 * MIB)
    assert outcome.end is End.OUT_OF_DISK


async def test_a_value_over_its_limit_is_refused(cells: Cells) -> None:
    outcome = await cells.compute("echo", Limits(value_bytes=1_000), value="x" * 2_000)
    assert outcome.fault is not None
    assert (outcome.end, outcome.fault.code) == (End.REFUSED, "value_too_large")


FORGE = """
import os
with open(4, 'wb') as report:
    report.write(b'{"end": "returned", "value": ' + %s + b'}\\n')
os.write(6, b'.')
os._exit(0)
"""


@pytest.mark.parametrize(
    ("value", "ends"),
    [
        ("b'[' * 64 + b']' * 64", {End.RETURNED}),
        ("b'[' * 65 + b']' * 65", {End.REFUSED}),
        # The reader itself gives up at a depth that depends on its own stack.
        ("b'[' * 960 + b']' * 960", {End.REFUSED, End.DIED}),
        ("b'[' * 200_000 + b']' * 200_000", {End.REFUSED, End.DIED}),
        ("b'[' + b'1, ' * 1_450_000 + b'1]'", {End.REFUSED}),
        ("b'NaN'", {End.DIED}),
    ],
)
async def test_a_forged_answer_keeps_the_bounds_of_an_answer(cells: Cells, value: str, ends: set[End]) -> None:
    work = Computation("cell_fixtures.unrestricted", {"source": FORGE % value}, trusted=False)
    outcome = await cells.run(work)
    assert outcome.end in ends, outcome
    assert outcome.value is None or End.RETURNED in ends


async def test_a_programs_value_is_bounded_more_tightly_than_a_computations(cells: Cells) -> None:
    keys = await cells.run(Code("result = [{'a': n} for n in range(10_001)]"))
    size = await cells.run(Code("result = 'x' * 1_100_000"))
    fits = await cells.run(Code("result = [{'a': n} for n in range(9_000)]"))
    assert (keys.fault and keys.fault.code, size.fault and size.fault.code) == (
        "value_has_too_many_keys",
        "value_too_large",
    )
    assert fits.end is End.RETURNED


@pytest.mark.parametrize(
    "write",
    [
        "open('x.txt', 'w')",
        "open('x.txt', 'ab')",
        "df.to_csv('x.csv')",
        "df.to_parquet('x.parquet')",
        "df.to_excel('x.xlsx')",
        "df.to_json('x.json')",
        "df.plot(); plt.savefig('x.png')",
        "np.save('x.npy', df.to_numpy())",
        "np.savetxt('x.txt', df.to_numpy())",
        "import pathlib; pathlib.Path('x').write_text('x')",
        "import scipy.io; scipy.io.mmwrite('x.mtx', df.to_numpy())",
        "import openpyxl; openpyxl.Workbook().save('x.xlsx')",
        "import xgboost; xgboost.DMatrix(df).save_binary('x.bin')",
    ],
)
async def test_without_exports_a_program_writes_no_file(cells: Cells, tmp_path: Path, write: str) -> None:
    pd.DataFrame({"a": [1.0, 2.0]}).to_parquet(tmp_path / "t.parquet")
    inputs = {"t.parquet": tmp_path / "t.parquet"}
    refused = await cells.run(Code(write, exports=False), inputs)
    assert (refused.end, refused.files) == (End.RAISED, ()), refused
    assert "programs write no files here" in refused.fault.detail
    written = await cells.run(Code(write), inputs)
    assert (written.end, len(written.files)) == (End.RETURNED, 1), written


async def test_without_exports_a_program_leaves_its_result_frames_and_figures(cells: Cells) -> None:
    program = (
        "keep['kept'] = result = pd.DataFrame({'a': range(200)})\n"
        "result.plot()\n"
        "print(len(result.to_csv()), result.to_json()[:6])"
    )
    for variables in (None, ProgramVariables(seed=1)):
        outcome = await cells.run(Code(program, variables, exports=False))
        assert outcome.end is End.RETURNED, outcome
        assert {"kept.parquet", "result.parquet", "figure-1.png"} <= {*outcome.files}


async def test_a_value_of_megabytes_arrives(cells: Cells) -> None:
    outcome = await cells.compute("echo", Limits(stdout_bytes=100), value="x" * (3 * MIB))
    assert outcome.value == "x" * (3 * MIB)
    assert len(outcome.stdout) == 100


async def test_a_cancellation_is_raised_after_the_cell_has_ended(cells: Cells) -> None:
    running = asyncio.create_task(cells.compute("spin", Limits(time_s=10 * HANG_GUARD_S)))
    await asyncio.sleep(0.2)  # clock: it gets into its work; a cancel before that is no other outcome
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert (await cells.compute("echo", value=1)).value == 1


async def test_sixteen_concurrent_requests_all_end(cells: Cells) -> None:
    outcomes = await asyncio.gather(*(cells.compute("echo", value=number) for number in range(16)))
    assert [outcome.value for outcome in outcomes] == list(range(16))


async def test_a_hundred_requests_leave_no_file_or_descriptor(cells: Cells) -> None:
    descriptors = _open_descriptors()
    for number in range(100):
        assert (await cells.compute("leave", names=["a"])).files == ("a",), number
    assert _open_descriptors() == descriptors
    assert [
        path.name for path in cells.provider.scratch.iterdir() if path.name not in (LOCK_NAME, SOCKET_FOLDER)
    ] == []


def _open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_a_cell_sees_no_secret_and_no_descriptor(cells: Cells, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = await cells.run(Computation("cell_fixtures.who"), limits=Limits(threads=2))
    assert isinstance(outcome.value, dict)
    # 3 is its request, 6 where it says that it has answered; 5, if it sees /proc, its own control group.
    assert outcome.value["descriptors"] in ([0, 1, 2, 3, 4, 6], [0, 1, 2, 3, 4, 5, 6])
    environment = outcome.value["environment"]
    assert isinstance(environment, list)
    assert not {"DATABASE_URL", "SECRET_KEY", "OPENAI_API_KEY", "PWD"} & set(map(str, environment))


async def test_requests_share_nothing(cells: Cells) -> None:
    left = {"source": "import pandas\nresult = hasattr(pandas, 'mark')\npandas.mark = 1"}
    for _ in range(4):  # more than there are cells that wait
        outcome = await cells.run(Computation("cell_fixtures.unrestricted", left, trusted=False))
        assert outcome.value == "False"


async def test_each_draws_its_own_random_numbers(cells: Cells) -> None:
    draw = Code("import numpy as np\nresult = float(np.random.rand())")
    drawn = [(await cells.run(draw)).value for _ in range(4)]
    assert len({str(value) for value in drawn}) == 4


async def test_a_program_gets_frames_and_keeps_frames_figures_and_files(cells: Cells, tmp_path: Path) -> None:
    pd.DataFrame({"v": [1, 2]}).to_parquet(tmp_path / "blob")
    source = """
import matplotlib.pyplot as plt
train["w"] = train["v"] + 1
keep["wider"] = train
plt.plot(train["w"])
with open("note.txt", "w") as file:
    file.write("hi")
import pandas as pd
result = {"sum": train["w"].sum(), "again": len(pd.read_parquet("train.parquet"))}
"""
    outcome = await cells.run(Code(source), {"train.parquet": tmp_path / "blob"})
    assert outcome.value == {
        "result": {"sum": 5, "again": 2},
        "frames": {"wider": {"file": "wider.parquet", "rows": 2, "columns": ["v", "w"]}},
        "figures": ["figure-1.png"],
    }
    assert outcome.files == ("figure-1.png", "note.txt", "wider.parquet")


async def test_a_program_writes_and_reads_workbooks(cells: Cells, tmp_path: Path) -> None:
    pd.DataFrame({"region": ["north", "south"], "sales": [2.5, 4.0]}).to_parquet(tmp_path / "sales.parquet")
    source = """
from openpyxl import Workbook, load_workbook
from openpyxl.drawing.image import Image
from openpyxl.styles import Font
from openpyxl.utils.dataframe import dataframe_to_rows
book = Workbook()
for row in dataframe_to_rows(df, index=False):
    book.active.append(row)
book.active["A1"].font = Font(bold=True)
df.plot.bar(x="region").figure.savefig("bars.png")
book.active.add_image(Image("bars.png"), "D2")
book.save("sales.xlsx")
stream = Workbook(write_only=True)
stream.create_sheet("numbers").append([1, 2])
stream.save("numbers.xlsx")
with pd.ExcelWriter("both.xlsx") as writer:
    df.to_excel(writer, sheet_name="sales", index=False)
    writer.book["sales"]["C1"] = "=SUM(B2:B3)"
sheet = load_workbook("sales.xlsx").active
result = {
    "rows": [list(row) for row in sheet.values],
    "bold": sheet["A1"].font.bold,
    "numbers": [list(row) for row in load_workbook("numbers.xlsx", read_only=True)["numbers"].values],
    "sum": float(pd.read_excel("both.xlsx")["sales"].sum()),
    "formula": load_workbook("both.xlsx")["sales"]["C1"].value,
}
"""
    outcome = await cells.run(Code(source), {"sales.parquet": tmp_path / "sales.parquet"})
    assert (outcome.end, outcome.stderr) == (End.RETURNED, ""), outcome
    assert outcome.value["result"] == {
        "rows": [["region", "sales"], ["north", 2.5], ["south", 4]],
        "bold": True,
        "numbers": [[1, 2]],
        "sum": 6.5,
        "formula": "=SUM(B2:B3)",
    }
    assert outcome.files == ("bars.png", "both.xlsx", "numbers.xlsx", "sales.xlsx")


async def test_a_program_that_is_not_allowed_is_refused_by_line(cells: Cells) -> None:
    outcome = await cells.run(Code("x = 1\ny = x.__reduce__"))
    assert outcome.end is End.REFUSED
    assert outcome.fault is not None
    assert "Line 2" in outcome.fault.detail


async def test_a_programs_own_exception_says_where(cells: Cells) -> None:
    outcome = await cells.run(Code("x = 1\nprint('seen')\nx / 0"))
    assert outcome.fault is not None
    assert (outcome.end, outcome.stdout) == (End.RAISED, "seen\n")
    assert outcome.fault.detail == "Line 3: ZeroDivisionError: division by zero"


async def test_isolation_names_the_tier(cells: Cells) -> None:
    isolation = await cells.provider.isolation()
    assert isolation.refusal is None
    assert isolation.tier in ("namespaces+lsm", "lsm-only")


@pytest.mark.parametrize(
    ("source", "result"),
    [
        ("result_df = df.groupby('g', as_index=False)['w'].sum()\nresult = 1", [["a", 3], ["b", 3]]),
        ("result_rows = [{'g': 'a', 'w': int(np.sum(df['w']))}]", [["a", 6]]),
        ("result_columns = ['g', 'w']\nresult_rows = [['a', 1], ['b', 2]]", [["a", 1], ["b", 2]]),
    ],
)
async def test_a_table_is_left_in_the_ways_of_notebooks(
    cells: Cells, tmp_path: Path, source: str, result: list[list[object]]
) -> None:
    pd.DataFrame({"g": ["a", "a", "b"], "w": [1, 2, 3]}).to_parquet(tmp_path / "train.parquet")
    outcome = await cells.run(Code(source), {"train.parquet": tmp_path / "train.parquet"})
    assert outcome.end is End.RETURNED, outcome
    table = outcome.value["result"]
    assert (table["columns"], table["rows"]) == (["g", "w"], result)


UNREADABLE = """
class Shape:
    def __repr__(self):
        raise ValueError("no text")
"""


@pytest.mark.parametrize(
    ("source", "kind", "detail"),
    [
        ("result_df = [1, 2]", "list", "result_df must be a DataFrame, not list."),
        ("result_rows = 'abc'", "str", "result_rows, here a str, and result_columns make no table: "),
        ("result_columns = ['a']\nresult_rows = [[1, 2]]", "list", "result_rows, here a list, and "),
        (f"{UNREADABLE}result = Shape()", "Shape", "A result of type Shape cannot be converted: ValueError"),
        ("keep['mixed'] = pd.DataFrame({'a': [1, 'b']})", "DataFrame", 'keep["mixed"] cannot be stored'),
    ],
)
async def test_a_result_that_cannot_be_converted_is_named_by_its_type(
    cells: Cells, source: str, kind: str, detail: str
) -> None:
    outcome = await cells.run(Code(f"print('seen')\n{source}"))
    assert outcome.end is End.REFUSED, outcome
    assert outcome.fault is not None
    assert (outcome.fault.code, outcome.fault.facts) == ("result_not_convertible", {"type": kind})
    assert outcome.fault.detail.startswith(detail)
    assert outcome.stdout == "seen\n"
