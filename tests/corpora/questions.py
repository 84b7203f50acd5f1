"""Format of the corpus of questions: tables with rows, questions on them, and their computed answers."""

from pathlib import Path
from typing import Annotated, Literal, Self

import pandas as pd
from pydantic import Field, model_validator
from tests.corpora.tables import ID_PATTERN, ColumnType, Half, InventedSource, PackageSource, StrictModel

QUESTIONS_DIRECTORY = Path(__file__).parent / "questions"
# Answers of the product are shown with three or four significant digits: half a unit of the third one.
RELATIVE_TOLERANCE = 0.005

QuestionAim = Literal["answer", "may_ask", "not_served", "unanswerable", "other_language"]
AIMS_WITH_READINGS = frozenset({"answer", "may_ask"})
Cell = bool | int | float | str | None


class QuestionColumn(StrictModel):
    """Column of a table with rows: its type and its meaning, units included."""

    name: str = Field(min_length=1)
    type: ColumnType
    about: str = Field(min_length=1)


class QuestionTable(StrictModel):
    """Table whose rows lie in `<id>/<name>.csv`, columns in the order of the file.

    Dates and times are ISO 8601, decimals have a point, and an empty cell is missing; every other spelling of
    a missing value ("n/a", "-") is a text, as it is in the file.
    """

    name: str = Field(pattern=ID_PATTERN)
    columns: list[QuestionColumn] = Field(min_length=1)

    @model_validator(mode="after")
    def check_columns(self) -> Self:
        names = [column.name for column in self.columns]
        if len(set(names)) != len(names):
            raise ValueError(f"table {self.name}: a column occurs twice")
        return self


class NumberAnswer(StrictModel):
    """A number.

    A count (`value` is an integer) agrees exactly, any other number within RELATIVE_TOLERANCE. Where `share` is
    true, 0.25 and 25 (percent) both agree with 0.25. A table of one row that has the number in one of its cells
    agrees too. Null stands for "no value": an empty result agrees.
    """

    form: Literal["number"]
    value: int | float | None
    share: bool = False


class TextAnswer(StrictModel):
    """A word, name, date or yes/no.

    Compared without regard to case and surrounding blanks. A date agrees at its own precision in any spelling
    ("2024-03" is March 2024), `true` and `false` with yes and no. A sentence or a table of one row agrees if it
    names the value as its answer; a table sorted so that the value stands in its first row agrees too.
    """

    form: Literal["text"]
    value: str | bool


class ListAnswer(StrictModel):
    """Values of one kind.

    Compared as a multiset by the rules of numbers and texts, and in order where `ordered` is true, values that
    are equal in the measure of the order excepted. A table agrees if one of its columns does.
    """

    form: Literal["list"]
    values: list[Cell]
    ordered: bool


class TableAnswer(StrictModel):
    """Rows of values.

    The names of columns are free and their order is, too: an answer agrees if each column here can be assigned
    to a column of its own in it, so that the rows agree cell by cell by the rules of numbers and texts. Extra
    columns are allowed, extra and absent rows are not, except rows whose measures are all zero or missing.
    The order of rows counts where `ordered` is true; rows that are equal in the measure of the order may be
    exchanged. A wide table (a column per group) agrees with a long one. Columns named in `shares` hold
    fractions, with which percents agree. A group agrees under any name that identifies it: "(17, 29]" is 18-29,
    "true" of a condition is a sentence that states it, 2024-03 is "March 2024", an empty cell is "missing".
    """

    form: Literal["table"]
    columns: list[str] = Field(min_length=1)
    rows: list[list[Cell]]
    ordered: bool
    shares: list[str] = Field(default_factory=list)

    @model_validator(mode="after")
    def check_cells(self) -> Self:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError("a row has more or fewer cells than the table has columns")
        if set(self.shares) - set(self.columns):
            raise ValueError(f"shares {self.shares} are not among the columns {self.columns}")
        return self


Answer = Annotated[NumberAnswer | TextAnswer | ListAnswer | TableAnswer, Field(discriminator="form")]


class QuestionReading(StrictModel):
    """Acceptable reading of a question and its answer.

    `computes` says in a plain sentence what is computed. `reference` is one pandas expression over the frames
    of the tables, named as the tables, with `pd` and `np`; its result, brought into the form of `answer`, is
    the stored answer. An answer of the product is right if it agrees with the answer of any reading, and if
    what was said of the reading does not contradict that reading.
    """

    computes: str = Field(min_length=1)
    reference: str = Field(min_length=1)
    answer: Answer


class Question(StrictModel):
    """Question in the user's words.

    | aim              | right is                                                                            |
    |------------------|-------------------------------------------------------------------------------------|
    | `answer`         | an answer that agrees with a reading; asking back is no mistake unless `plain`      |
    | `may_ask`        | asking back about what `note` names, or an answer that agrees with a reading        |
    | `unanswerable`   | saying that the tables lack what `note` names; any computed answer is wrong         |
    | `not_served`     | saying that such a request is not served; nothing is computed                       |
    | `other_language` | saying that the language is not understood; nothing is computed                     |
    """

    question: str = Field(min_length=1)
    aim: QuestionAim
    plain: bool
    readings: list[QuestionReading]
    note: str = Field(min_length=1)

    @model_validator(mode="after")
    def check_readings(self) -> Self:
        if (self.aim in AIMS_WITH_READINGS) != bool(self.readings):
            raise ValueError(f"{self.question!r}: there are readings exactly for {sorted(AIMS_WITH_READINGS)}")
        if self.plain and self.aim != "answer":
            raise ValueError(f"{self.question!r}: only a question to answer can be plain")
        return self


class QuestionFile(StrictModel):
    """One file of the corpus: one or several related tables and the questions on them."""

    id: str = Field(pattern=ID_PATTERN)
    source: PackageSource | InventedSource
    title: str = Field(min_length=1)
    tables: list[QuestionTable] = Field(min_length=1)
    questions: list[Question] = Field(min_length=1)


def load_questions(half: Half) -> list[QuestionFile]:
    """Files of one half in the order of their names; raise ValidationError on a malformed file."""
    paths = sorted((QUESTIONS_DIRECTORY / half).glob("*.json"))
    return [QuestionFile.model_validate_json(path.read_text(encoding="utf-8"), strict=True) for path in paths]


def rows_path(half: Half, file_id: str, table: str) -> Path:
    """CSV file with the rows of a table."""
    return QUESTIONS_DIRECTORY / half / file_id / f"{table}.csv"


def read_rows(path: Path, table: QuestionTable) -> pd.DataFrame:
    """Rows of a table with the types of its columns; raise ValueError where file and columns differ."""
    nullable = {"integer": "Int64", "number": "float64", "boolean": "boolean"}
    dtypes = {column.name: nullable.get(column.type, "str") for column in table.columns}
    frame = pd.read_csv(path, dtype=dtypes, keep_default_na=False, na_values=[""])
    names = [column.name for column in table.columns]
    if list(frame.columns) != names:
        raise ValueError(f"{path.name} has the columns {list(frame.columns)}, expected {names}")
    for column in table.columns:
        if column.type in ("date", "datetime"):
            frame[column.name] = pd.to_datetime(frame[column.name], format="ISO8601")
    return frame
