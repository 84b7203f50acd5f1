"""Each kind of planted leak is named, and its score without the leak is the one that the other columns give."""

import numpy as np
import pandas as pd
import pytest

from app.modeling.facts.assumptions import AssumptionJson

from .planted import auc_of_risk, customers, is_inside, measure_known_columns

ROWS = 1200
NOISE = 2.0
"""Standard deviation of what no honest column tells about the amounts below."""


def amounts() -> pd.DataFrame:
    """Amounts that an honest column tells to a root mean square error of `NOISE`."""
    rng = np.random.default_rng(3)
    area = rng.normal(size=ROWS)
    return pd.DataFrame({"area": area, "amount": 20 + 3 * area + NOISE * rng.normal(size=ROWS)})


def sorted_file() -> pd.DataFrame:
    frame = customers(ROWS).sort_values("left", ignore_index=True)
    return frame.assign(id=np.arange(ROWS) + 1000)


def written_outcome() -> pd.DataFrame:
    frame = customers(ROWS)
    rng = np.random.default_rng(1)
    topics = rng.choice(["asked about the bill", "wanted a discount", "moved house", "praised support"], ROWS)
    ending = np.where(frame["left"] == 1, "then closed the account", "then stayed with us")
    return frame.assign(
        note=[f"{t} and {e} ({n})" for n, (t, e) in enumerate(zip(topics, ending, strict=True))]
    )


def reason_of_leaving() -> pd.DataFrame:
    frame = customers(ROWS)
    reason = pd.Series(np.random.default_rng(1).choice(["price", "service", "other"], ROWS))
    return frame.assign(reason=reason.where(frame["left"] == 1))


@pytest.mark.parametrize(
    ("make", "column"), [(sorted_file, "id"), (written_outcome, "note"), (reason_of_leaving, "reason")]
)
def test_a_column_that_only_the_outcome_explains_is_left_out_with_both_figures(make, column) -> None:
    frame = make()
    leak = measure_known_columns(frame, "left")[column]
    assert (leak["kind"], leak["chosen"], leak["matters"]) == ("column", "otherwise", True)
    assert is_inside(leak, "holds", 1.0)
    assert is_inside(leak, "otherwise", auc_of_risk(frame))


def another_unit(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(cents=frame["amount"] * 100 + 3)


def two_parts(frame: pd.DataFrame) -> pd.DataFrame:
    first = np.random.default_rng(1).normal(size=ROWS) * 10
    return frame.assign(first=first, second=frame["amount"] - first)


@pytest.mark.parametrize(("plant", "columns"), [(another_unit, "cents"), (two_parts, "first+second")])
def test_columns_that_are_the_amount_are_left_out_with_both_figures(plant, columns) -> None:
    assumptions = measure_known_columns(plant(amounts()), "amount")
    assert list(assumptions) == [columns]
    assert assumptions[columns]["chosen"] == "otherwise"
    assert is_inside(assumptions[columns], "otherwise", NOISE, slack=0.15)
    assert (assumptions[columns]["holds_score"] or 9) < 0.7 * NOISE


def test_two_codes_of_an_outcome_do_not_hide_each_other() -> None:
    frame, rng = customers(ROWS), np.random.default_rng(1)
    for name in ("last_login", "open_tickets"):
        frame[name] = 5 * frame["left"] + rng.normal(size=ROWS)
    pairs = measure_known_columns(frame, "left")
    assert {name for entry in pairs.values() for name in entry["columns"]} == {"last_login", "open_tickets"}
    joint: AssumptionJson = max(pairs.values(), key=lambda entry: len(entry["columns"]))
    assert len(joint["columns"]) == 2
    assert (joint["chosen"], joint["matters"]) == ("holds", True)
    assert is_inside(joint, "otherwise", auc_of_risk(frame))


def test_a_measurement_that_is_often_missing_is_no_leak() -> None:
    frame, rng = customers(ROWS), np.random.default_rng(1)
    # Those who leave are asked less often: the gaps tell a little, as in any survey.
    answered = rng.random(ROWS) < np.where(frame["left"] == 1, 0.4, 0.7)
    frame["satisfaction"] = (5 - frame["risk"] + rng.normal(size=ROWS)).where(answered)
    assert measure_known_columns(frame, "left") == {}


def animals() -> pd.DataFrame:
    """Animals of five species; a wing is measured of nearly all of one species and of none of another."""
    rng = np.random.default_rng(0)
    species = rng.integers(0, 5, ROWS)
    is_measured = rng.random(ROWS) < np.array([0.99, 0.6, 0.4, 0.5, 0.0])[species]
    wing = pd.Series(10 + 1.5 * species + 1.5 * rng.normal(size=ROWS)).where(is_measured)
    return pd.DataFrame(
        {
            "weight": rng.normal(size=ROWS) + 0.4 * species,
            "wing": wing,
            "species": [*map("abcde".__getitem__, species)],
        }
    )


def members() -> pd.DataFrame:
    """Customers with a number in the order of joining, in a shuffled file: those who came early stay."""
    frame, rng = customers(ROWS), np.random.default_rng(1)
    joined = rng.permutation(ROWS)
    risk = frame["risk"] - 3 * joined / ROWS + 1.5
    frame["left"] = (rng.random(ROWS) < 1 / (1 + np.exp(-2 * risk))).astype(int)
    return frame.assign(member_id=100_000 + 7 * joined)


def test_a_legitimate_measurement_that_some_classes_lack_is_kept_with_both_figures() -> None:
    wing = measure_known_columns(animals(), "species")["wing"]
    assert (wing["chosen"], wing["matters"]) == ("holds", True)
    assert (wing["holds_score"] or 9) < (wing["otherwise_score"] or 0) - 0.2


def test_an_identifier_that_carries_information_is_kept() -> None:
    assert all(entry["chosen"] == "holds" for entry in measure_known_columns(members(), "left").values())
