"""Units of columns, from what is written beside their numbers and from their names."""

import pytest

from app.modeling.facts.column_units import find_unit
from app.modeling.facts.readings import ColumnReading, FileReading


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("price_usd", "dollars"),
        ("PriceUSD", "dollars"),
        ("revenue_eur", "euros"),
        ("trip_distance_km", "km"),
        ("living_area_m2", "m²"),
        ("body_mass_g", "g"),
        ("flipper_length_mm", "mm"),
        ("delay (minutes)", "minutes"),
        ("Temp (°C)", "°C"),
        ("Time [s]", "seconds"),
        ("Weight (lbs)", "pounds"),
        ("share_pct", "%"),
        ("days", "days"),
        ("duration_min", "minutes"),
    ],
)
def test_a_name_ends_with_its_unit(name: str, unit: str) -> None:
    found = find_unit(name)
    assert found is not None
    assert found.text == unit


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("days from opened to closed", "days"),
        ("hours from first call to last call", "hours"),
        ("delay in minutes (arrived after planned)", "minutes"),
    ],
)
def test_a_time_between_columns_has_the_unit_that_it_is_computed_in(name: str, unit: str) -> None:
    time = find_unit(name)
    assert time is not None
    assert time.text == unit


@pytest.mark.parametrize(
    "name",
    [
        "dollars from sales to partners",
        "delay in delivery of goods",
        "price",
        "grade_c",
        "log_in",
        "temp_min",
        "birth_year",
        "year_built",
        "max_hr",
        "pct_change",
        "",
        "()",
        "a(",
    ],
)
def test_a_name_that_ends_otherwise_has_no_unit(name: str) -> None:
    assert find_unit(name) is None


@pytest.mark.parametrize(
    ("before", "after", "unit"),
    [
        ({"$": 1.0}, {}, "dollars"),
        ({}, {"€": 1.0}, "euros"),
        ({}, {"%": 1.0}, "%"),
        ({}, {"km": 1.0, "m": 0.001}, "km"),
        ({}, {"widgets": 1.0}, "widgets"),
        ({}, {}, None),
    ],
)
def test_what_is_written_beside_the_numbers_is_the_unit(
    before: dict[str, float], after: dict[str, float], unit: str | None
) -> None:
    parser = {"op": "read_number", "decimal": ".", "group": ",", "before": before, "after": after}
    reading = FileReading(columns=(ColumnReading(column="x", reads_as="number", parser=parser),))
    found = find_unit("x", reading)
    assert (found.text if found else None) == unit


def test_cells_decide_before_the_name() -> None:
    parser = {"op": "read_number", "before": {"€": 1.0}, "after": {}}
    reading = FileReading(columns=(ColumnReading(column="price_usd", reads_as="number", parser=parser),))
    unit = find_unit("price_usd", reading)
    assert unit is not None
    assert (unit.text, unit.kind) == ("euros", "currency")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("yield_t_ha", "t/ha"),
        ("nitrogen_kg_ha", "kg/ha"),
        ("speed_km_h", "km/h"),
        ("price_usd_m2", "USD/m²"),
        ("PriceEurPerKg", "EUR/kg"),
        ("usd_per_hour", "USD/h"),
        ("irradiance_w_m2", "W/m²"),
        ("nitrate_mg_l", "mg/l"),
        ("tariff_eur_kwh", "EUR/kWh"),
        ("flow_m3_s", "m³/s"),
        ("milk_kg_day", "kg/d"),
        ("Yield (t/ha)", "t/ha"),
        ("rate (usd per hour)", "USD/h"),
        ("flux_kg_m2_s", None),
        ("price_per_kg", None),
        ("cups_per_day", None),
        ("revenue_k_usd", None),
        ("load_min_kg", None),
        ("sales_usd_m", None),
        ("temp_deg_c", None),
        ("age_years_months", None),
        ("Rate (per hour)", None),
        ("delay_in_minutes", "minutes"),
        ("weight_kg", "kg"),
    ],
)
def test_two_units_at_the_end_of_a_name_are_a_ratio_or_none(name: str, text: str | None) -> None:
    unit = find_unit(name)
    assert (unit.text if unit else None) == text
