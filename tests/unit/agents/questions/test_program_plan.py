"""Query plans of programs give the figures that pandas computes of the same rows."""

from collections.abc import Iterator

import pandas as pd
import pytest
from tests.unit.agents.questions.program_tables import (
    BOTH,
    Reference,
    Tables,
    cells,
    open_program_tables,
    period,
    rows_of,
)

from app.agents.questions.question_reading import NotUnderstood


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tables]:
    with open_program_tables(tmp_path_factory.mktemp("tables")) as opened:
        yield opened


def _folded_kind(trips: pd.DataFrame) -> pd.Series:
    # The more frequent of two spellings stands for both.
    return trips["kind"].str.lower().replace("guest", "Guest").rename("kind")


FIGURES: list[tuple[str, Reference]] = [
    ("count()", len),
    ("count(late == True)", lambda t: t.late.sum()),
    ("count(), where(kind == 'guest')", lambda t: (t.kind.str.lower() == "guest").sum()),
    ("mean(fare), where(ward == 'north')", lambda t: t[t.ward == "North"].fare.mean()),
    ("mean(tip), sum(tip)", lambda t: (t.tip.mean(), t.tip.sum())),
    ("median(fare), std(fare)", lambda t: (t.fare.median(), t.fare.std())),
    ("min(started), max(started)", lambda t: (t.started.min(), t.started.max())),
    ("quantile(fare, 0.9)", lambda t: t.fare.quantile(0.9)),
    ("distinct(rider_id)", lambda t: t.rider_id.nunique()),
    ("corr(fare, tip)", lambda t: t.fare.corr(t.tip)),
    ("sum(fare, late == True)", lambda t: t[t.late].fare.sum()),
    ("distinct(rider_id, ward == 'East')", lambda t: t[t.ward == "East"].rider_id.nunique()),
    ("sum(fare * seats)", lambda t: (t.fare * t.seats).sum()),
    ("mean(fare - tip)", lambda t: (t.fare - t.tip).mean()),
    ("sum(seats * (fare - tip))", lambda t: (t.seats * (t.fare - t.tip)).sum()),
    ("mean(hours(started, ended))", lambda t: (t.ended - t.started).dt.total_seconds().mean() / 3600),
    ("max(minutes(started, ended))", lambda t: (t.ended - t.started).dt.total_seconds().max() / 60),
    ("mean(days(started, ended))", lambda t: (t.ended - t.started).dt.total_seconds().mean() / 86400),
    ("mean(days(booked, started))", lambda t: (t.started.dt.normalize() - t.booked).dt.days.mean()),
    ("share(late == True)", lambda t: (t.late.mean(), t.late.sum())),
    ("share(tip > 4)", lambda t: ((t.tip.dropna() > 4).mean(), (t.tip > 4).sum())),
    ("share(late == True), share(paid == True)", lambda t: (t.late.mean(), t.paid.mean())),
    ("mean(late)", lambda t: (t.late.mean(), t.late.sum())),
    (
        "sum(fare, late == True) / sum(fare)",
        lambda t: (t[t.late].fare.sum() / t.fare.sum(), t[t.late].fare.sum(), t.fare.sum()),
    ),
    (
        "sum(fare) / sum(seats)",
        lambda t: (t.fare.sum() / t.seats.sum(), t.fare.sum(), t.seats.sum()),
    ),
    (
        "mean(fare, late == True) - mean(fare, late == False)",
        lambda t: (
            t[t.late].fare.mean() - t[~t.late].fare.mean(),
            t[t.late].fare.mean(),
            t[~t.late].fare.mean(),
        ),
    ),
    ("max(fare) - min(fare)", lambda t: (t.fare.max() - t.fare.min(), t.fare.max(), t.fare.min())),
    ("over(mean, count()), by(rider_id)", lambda t: t.groupby("rider_id").size().mean()),
    ("over(std, sum(fare)), by(rider_id)", lambda t: t.groupby("rider_id").fare.sum().std()),
    ("over(max, sum(fare)), by(day(started))", lambda t: t.groupby(t.started.dt.date).fare.sum().max()),
    (
        "over(mean, change(sum(fare))), by(yearmonth(started))",
        lambda t: t.groupby(period(t, "M")).fare.sum().diff().mean(),
    ),
    (
        "over(mean, mean(fare)), by(rider_id), having(count() > 5)",
        lambda t: t.groupby("rider_id").fare.agg(["size", "mean"]).query("size > 5")["mean"].mean(),
    ),
    ("count_groups(), by(rider_id)", lambda t: t.rider_id.nunique()),
    (
        "count_groups(), by(rider_id), having(mean(fare) > 25)",
        lambda t: (t.groupby("rider_id").fare.mean() > 25).sum(),
    ),
]

GROUPS: list[tuple[str, Reference]] = [
    ("mean(fare), by(ward)", lambda t: t.groupby("ward").fare.mean()),
    ("mean(fare), by(kind)", lambda t: t.groupby(_folded_kind(t)).fare.mean()),
    ("mean(fare), mean(tip), by(ward, late)", lambda t: t.groupby(["ward", "late"])[["fare", "tip"]].mean()),
    ("count(), by(year(started))", lambda t: t.groupby(t.started.dt.year).size()),
    ("count(), by(yearmonth(started))", lambda t: t.groupby(period(t, "M")).size()),
    ("count(), by(week(started))", lambda t: t.groupby(period(t, "W")).size()),
    ("count(), by(day(started))", lambda t: t.groupby(t.started.dt.normalize()).size()),
    ("count(), by(started)", lambda t: t.groupby(t.started.dt.normalize()).size()),
    (
        "count(), by(yearquarter(started))",
        lambda t: t.groupby(t.started.dt.to_period("Q").astype(str)).size(),
    ),
    ("count(), by(quarter(started))", lambda t: t.groupby(t.started.dt.quarter).size()),
    ("count(), by(hour(started))", lambda t: t.groupby(t.started.dt.hour).size()),
    ("count(), by(hour(wait))", lambda t: t.groupby(t.wait.str[:2].astype(int)).size()),
    (
        "count(), by(month(started))",
        lambda t: t.groupby([t.started.dt.month, t.started.dt.month_name().rename("name")]).size().droplevel(0),
    ),
    (
        "count(), by(weekday(started))",
        lambda t: (
            t.groupby([t.started.dt.day_of_week, t.started.dt.day_name().rename("name")]).size().droplevel(0)
        ),
    ),
    ("count(), by(bins(fare))", lambda t: t.groupby(t.fare // 10 * 10).size()),
    ("count(), by(bins(seats))", lambda t: t.groupby("seats").size()),
    ("count(), by(size)", lambda t: t.groupby("size").size()[["S", "M", "L"]]),
    ("mean(fare), by(ward == 'North')", lambda t: t.fare.groupby(t.ward == "North").mean()),
    ("mean(tip), by(fare > mean(fare))", lambda t: t.tip.groupby(t.fare > t.fare.mean()).mean()),
    (
        "mean(fare), by(weekday(started) in ('Sunday', 'Saturday'))",
        lambda t: t.groupby(t.started.dt.day_of_week >= 5).fare.mean(),
    ),
    ("share(late == True), by(ward)", lambda t: t.groupby("ward").late.agg(["mean", "size"])),
    ("sum(fare), by(ward), sort_desc(sum(fare))", lambda t: t.groupby("ward").fare.sum().sort_values()[::-1]),
    ("sum(fare), by(ward), top(2, sum(fare))", lambda t: t.groupby("ward").fare.sum().nlargest(2)),
    ("mean(tip), by(ward), bottom(1, mean(tip))", lambda t: t.groupby("ward").tip.mean().nsmallest(1)),
    ("count(), by(yearmonth(started)), bottom(2, yearmonth(started))", lambda t: _sizes(t).head(2)),
    ("mean(fare), by(size), sort_desc(size)", lambda t: t.groupby("size").fare.mean()[["L", "M", "S"]]),
    (
        "mean(fare), by(ward), top(2, mean(tip))",
        lambda t: t.groupby("ward")[["fare", "tip"]].mean().nlargest(2, "tip"),
    ),
    (
        "mean(fare), by(rider_id), having(count() > 6)",
        lambda t: t.groupby("rider_id").fare.agg(["mean", "size"]).query("size > 6"),
    ),
    (
        "groups(), by(rider_id), having(sum(fare) > mean)",
        lambda t: t.groupby("rider_id").fare.sum().pipe(lambda s: s[s > s.mean()]).sort_values(ascending=False),
    ),
    ("groups(), by(ward), top(1, sum(fare))", lambda t: t.groupby("ward").fare.sum().nlargest(1)),
    (
        "part(sum(fare)), by(ward)",
        lambda t: (
            t.groupby("ward")
            .fare.sum()
            .sort_values(ascending=False)
            .to_frame()
            .assign(share=lambda f: f.fare / f.fare.sum())
        ),
    ),
    (
        "change(sum(fare)), by(yearmonth(started))",
        lambda t: (
            t.groupby(period(t, "M"))
            .fare.sum()
            .to_frame()
            .assign(change=lambda f: f.fare.diff(), relative=lambda f: f.fare.pct_change())
            .dropna()
        ),
    ),
    (
        "sum(fare), change(sum(fare)), by(yearmonth(started))",
        lambda t: (
            t.groupby(period(t, "M"))
            .fare.sum()
            .to_frame()
            .assign(change=lambda f: f.fare.diff(), relative=lambda f: f.fare.pct_change())
        ),
    ),
    (
        "change(sum(fare)), by(yearmonth(started)), top(1, change(sum(fare)))",
        lambda t: (
            t.groupby(period(t, "M"))
            .fare.sum()
            .to_frame()
            .assign(change=lambda f: f.fare.diff(), relative=lambda f: f.fare.pct_change())
            .nlargest(1, "change")
        ),
    ),
    ("count(), by(year(season))", lambda t: t.groupby(t.season.str[:4].astype(int)).size()),
    (
        "cumulative(count()), by(season)",
        lambda t: (
            t.groupby("season").size().to_frame("rows").assign(sum=lambda f: f.rows.cumsum())[["sum", "rows"]]
        ),
    ),
    (
        "mean(hours(started, ended)), by(ward)",
        lambda t: (t.ended - t.started).dt.total_seconds().div(3600).groupby(t.ward).mean(),
    ),
    (
        "share(size in ('S', 'L')), by(ward), sort_desc(share(size in ('S', 'L')))",
        lambda t: t["size"].ne("M").groupby(t.ward).agg(["mean", "size"]).sort_values("mean", ascending=False),
    ),
    (
        "cumulative(count()), by(yearmonth(started))",
        lambda t: _sizes(t).to_frame("rows").assign(running=lambda f: f.rows.cumsum())[["running", "rows"]],
    ),
    (
        "cumulative(sum(fare)), by(late, yearmonth(started))",
        lambda t: (
            t.groupby([t.late, period(t, "M")])
            .fare.sum()
            .to_frame()
            .assign(running=lambda f: f.groupby("late").fare.cumsum())[["running", "fare"]]
        ),
    ),
    (
        "mean(fare, late == True) - mean(fare, late == False), by(ward)",
        lambda t: (
            t.pivot_table(index="ward", columns="late", values="fare")
            .set_axis(["no", "yes"], axis=1)
            .assign(gap=lambda f: f.yes - f.no)[["gap", "yes", "no"]]
        ),
    ),
]

ROWS: list[tuple[str, Reference]] = [
    ("rows(), where(fare > 55)", lambda t: t[t.fare > 55].assign(wait=_hours(t))),
    ("rows(trip_id, ward), where(late == True)", lambda t: t[t.late][["trip_id", "ward"]]),
    ("rows(trip_id), where(fare > mean(fare))", lambda t: t[t.fare > t.fare.mean()][["trip_id", "fare"]]),
    ("rows(kind), where(trip_id == 4)", lambda t: t[t.trip_id == 4][["kind"]]),
    ("rows(trip_id), top(1, fare)", lambda t: t.nlargest(1, "fare")[["trip_id", "fare"]]),
    ("rows(trip_id), bottom(3, fare)", lambda t: t.nsmallest(3, "fare")[["trip_id", "fare"]]),
    ("rows(trip_id), top(2, started)", lambda t: t.nlargest(2, "started")[["trip_id", "started"]]),
    ("rows(trip_id, fare), sort(fare)", lambda t: t.sort_values("fare")[["trip_id", "fare"]]),
    (
        "rows(trip_id, weekday(started)), top(1, fare * seats)",
        lambda t: (
            t.assign(day=t.started.dt.day_name(), total=t.fare * t.seats)
            .nlargest(1, "total")[["trip_id", "day", "total"]]
        ),
    ),
    ("values(ward)", lambda t: t.ward.value_counts().sort_index().sort_values(ascending=False, kind="stable")),
    ("values(kind)", lambda t: _folded_kind(t).value_counts()),
    ("values(ward), sort(ward)", lambda t: t.ward.value_counts().sort_index()),
]  # fmt: skip


def _sizes(trips: pd.DataFrame) -> pd.Series:
    return trips.groupby(period(trips, "M")).size()


def _hours(trips: pd.DataFrame) -> pd.Series:
    return trips["wait"].str[:2].astype(int) + trips["wait"].str[3:].astype(int) / 60


@pytest.mark.parametrize(("program", "reference"), FIGURES)
def test_figures_of_all_rows(tables: Tables, program: str, reference: Reference) -> None:
    assert cells(tables.answer(program)) == rows_of(reference(tables.frames["trips"]))


@pytest.mark.parametrize(("program", "reference"), GROUPS)
def test_figures_of_groups(tables: Tables, program: str, reference: Reference) -> None:
    assert cells(tables.answer(program)) == rows_of(reference(tables.frames["trips"]))


@pytest.mark.parametrize(("program", "reference"), ROWS)
def test_rows_and_values(tables: Tables, program: str, reference: Reference) -> None:
    result = reference(tables.frames["trips"])
    expected = result.reset_index(drop=True) if isinstance(result, pd.DataFrame) else result
    assert cells(tables.answer(program)) == rows_of(expected)


@pytest.mark.parametrize(
    ("program", "names"),
    [
        ("count()", ["rows"]),
        ("count(late == True)", ["rows with late"]),
        ("sum(fare, ward == 'East')", ["total fare of East"]),
        ("share(late == True), by(ward)", ["ward", "share", "rows"]),
        ("part(sum(fare)), by(ward)", ["ward", "total fare", "share"]),
        ("change(count()), by(yearmonth(started))", ["month", "rows", "change", "relative change"]),
        ("cumulative(count()), by(week(started))", ["week", "running rows", "rows"]),
        ("sum(fare) / sum(seats)", ["fare per seats", "total fare", "total seats"]),
        ("sum(fare) / count()", ["total fare per row", "total fare", "rows"]),
        (
            "mean(fare, ward == 'East') / mean(fare, ward == 'North')",
            ["ratio", "mean fare of East", "mean fare of North"],
        ),
        ("over(mean, count()), by(rider_id)", ["mean rows per rider_id"]),
        ("count_groups(), by(rider_id)", ["number of rider_id"]),
        ("mean(fare), by(ward == 'North')", ["ward is 'North'", "mean fare"]),
        ("mean(fare), by(weekday(started) in ('Saturday', 'Sunday'))", ["weekend", "mean fare"]),
        ("share(tip > 3), share(tip > 5)", ["share", "share where tip is above 5"]),
    ],
)
def test_columns_have_the_names_of_composed_plans(tables: Tables, program: str, names: list[str]) -> None:
    assert list(tables.answer(program).columns) == names


def test_this_period_is_compared_with_the_one_before(tables: Tables) -> None:
    trips = tables.frames["trips"]
    answer, notes = tables.read("count(this(started, 'month')) - count(previous(started, 'month'))")
    months = trips["started"].dt.to_period("M")
    sizes = [(months == months.max() - back).sum() for back in (0, 1)]
    assert cells(answer) == [[sizes[0] - sizes[1], *sizes]]
    assert notes[0].startswith(f"The current month is {months.max()}, counted from")


def test_a_ranking_of_one_shows_all_ties(tables: Tables) -> None:
    trips = tables.frames["trips"]
    most = trips[trips["seats"] == trips["seats"].max()]["trip_id"].tolist()
    assert tables.answer("rows(trip_id), top(1, seats)")["trip_id"].tolist() == most


JOINED: list[tuple[str, str, Reference]] = [
    ("sum(fare), by(city)", "", lambda j: j.groupby("city").fare.sum()),
    ("count(), by(city)", "trips by city", lambda j: j.groupby("city").size()),
    ("sum(fare), by(name), top(3, sum(fare))", "", lambda j: j.groupby("name").fare.sum().nlargest(3)),
    ("groups(), by(name), top(1, count())", "which rider", lambda j: j.groupby("name").size().nlargest(1)),
    ("groups(), by(rider_id), top(1, count())", "", lambda j: j.groupby("rider_id").size().nlargest(1)),
    ("count(), where(city == 'Oslo')", "how many trips", lambda j: (j.city == "Oslo").sum()),
    ("distinct(rider_id), where(city == 'Oslo')", "", lambda j: j[j.city == "Oslo"].rider_id.nunique()),
    ("share(age > 40), by(ward)", "", lambda j: (j.age > 40).groupby(j.ward).agg(["mean", "size"])),
    ("mean(fare * age)", "", lambda j: (j.fare * j.age).mean()),
    ("mean(fare), by(age > 40)", "", lambda j: j.fare.groupby(j.age > 40).mean()),
    ("corr(fare, age)", "", lambda j: j.fare.corr(j.age)),
    ("over(mean, sum(fare)), by(city)", "", lambda j: j.groupby("city").fare.sum().mean()),
    ("count_groups(), by(name), having(count() > 6)", "riders", lambda j: (j.groupby("name").size() > 6).sum()),
]  # fmt: skip


@pytest.mark.parametrize(("program", "question", "reference"), JOINED)
def test_joined_tables(tables: Tables, program: str, question: str, reference: Reference) -> None:
    joined = tables.frames["trips"].merge(tables.frames["riders"], on="rider_id")
    assert cells(tables.answer(program, BOTH, question)) == rows_of(reference(joined))


def test_rows_of_the_named_table_count_once(tables: Tables) -> None:
    trips, riders = tables.frames["trips"], tables.frames["riders"]
    late = riders[riders["rider_id"].isin(trips[trips["late"]]["rider_id"])]
    count = "count(), where(late == True)"
    assert cells(tables.answer(count, BOTH, "how many riders were late")) == [[len(late)]]
    names = tables.answer("rows(name), where(late == True)", BOTH, "riders who were late")["name"]
    assert sorted(names) == late["name"].tolist()
    mean = tables.answer("mean(age), where(late == True)", BOTH)
    assert cells(mean) == rows_of(late["age"].mean())


def test_rows_of_a_shared_key_are_those_of_the_named_table(tables: Tables) -> None:
    assert len(tables.answer("rows(), where(rider_id == 5)", BOTH, "show rider 5")) == 1
    trips = tables.frames["trips"]
    of_rider = tables.answer("rows(), where(rider_id == 5)", BOTH, "trips of rider 5")
    assert len(of_rider) == (trips["rider_id"] == 5).sum()


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("none()", "do not hold"),
        ("mean(ward)", "`ward` holds text"),
        ("median(started)", "`started` holds datetime"),
        ("count(), where(ward == 'West')", "`ward` has no value 'West'"),
        ("count(), where(fare > 'much')", "`fare` holds numbers"),
        ("count(), where(started > 'noon')", "`started` holds dates"),
        ("count(), where(month(started) == 'Frimaire')", "is no month"),
        ("count(), where(late > True)", "is yes or no"),
        ("count(), where(late == 'perhaps')", "is yes or no"),
        ("count(), where(fare > started)", "of different kinds"),
        ("count(), where(this(started, 'hour'))", "which hour"),
        ("count(), where(last(fare, 3, 'day'))", "latest day of `fare`"),
        ("mean(days(fare, started))", "`fare` holds no dates"),
        ("count(), by(bins(ward))", "`ward` holds no numbers"),
        ("part(sum(fare))", "of which groups"),
        ("change(sum(fare)), by(ward)", "`ward` has no order"),
        ("mean(fare), by(ward), top(1, trip_id)", "`trip_id` has no single value"),
        ("rows(), top(3, count())", "Single rows have no figure"),
        ("part(count()) - part(sum(fare)), by(ward)", "no part of another figure"),
    ],
)
def test_programs_that_the_tables_cannot_carry_out(tables: Tables, program: str, reason: str) -> None:
    with pytest.raises(NotUnderstood, match=reason):
        tables.answer(program)


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("count()", "which table is meant"),
        ("mean(age), by(ward)", "would count once for each row"),
        ("mean(age - joined), by(ward)", "would count once for each row"),
    ],
)
def test_programs_that_two_tables_cannot_carry_out(tables: Tables, program: str, reason: str) -> None:
    with pytest.raises(NotUnderstood, match=reason):
        tables.answer(program, BOTH)
