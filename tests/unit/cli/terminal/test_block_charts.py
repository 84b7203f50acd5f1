"""Charts of the terminal."""

from app.cli.terminal.block_charts import WIDTH, draw_blocks

TEXT, NUMBER, TIME = (
    {"name": "a", "type": "text"},
    {"name": "b", "type": "number"},
    {"name": "t", "type": "datetime"},
)


def test_shares_are_percentages_as_in_the_table() -> None:
    assert draw_blocks("bar", [TEXT, NUMBER], [["a", 0.0679], ["b", 0.5]], is_share=True).splitlines() == [
        "a │██████▌ 6.8 %",
        f"b │{'█' * WIDTH} 50.0 %",
    ]


def test_the_longest_bar_has_the_greatest_number() -> None:
    first, second = draw_blocks("bar", [TEXT, NUMBER], [["x", 10.0], ["long", 5.0]]).splitlines()
    assert first == "   x │" + "█" * WIDTH + " 10"
    assert second == "long │" + "█" * (WIDTH // 2) + " 5"


def test_a_curve_has_its_ends_and_its_bounds() -> None:
    drawn = draw_blocks("line", [TIME, NUMBER], [[f"2024-01-{day:02d}T00:00:00", day] for day in range(1, 31)])
    assert "30 │" in drawn
    assert drawn.splitlines()[-1].split() == ["2024-01-01", "2024-01-30"]


def test_points_of_a_curve_have_no_bars_that_end_elsewhere_than_at_zero() -> None:
    rows = [[f"2024-01-{day:02d}T00:00:00", 100 + day] for day in range(1, 13)]
    lines = [line.partition("│")[2] for line in draw_blocks("line", [TIME, NUMBER], rows).splitlines()[:-1]]
    for column in range(12):
        assert sum(line[column : column + 1].strip() != "" for line in lines) == 1


def test_empty_columns_and_equal_values_are_drawn() -> None:
    assert draw_blocks("line", [TIME, NUMBER], [["2024-01-01", None]]) == ""
    assert draw_blocks("bar", [TEXT, NUMBER], [["x", None], [None, 0]]).count("│") == 2
    assert draw_blocks("line", [TIME, NUMBER], [["2024-01-01", 3], ["2024-01-02", 3]])


def test_correlations_show_sign_and_strength() -> None:
    columns = [{"name": name, "type": "text"} for name in ("first", "second")]
    columns.append({"name": "correlation", "type": "number"})
    assert "█-0.90" in draw_blocks("heatmap", columns, [["a", "b", -0.9]])


def test_kinds_that_a_table_shows_better_are_not_drawn() -> None:
    assert draw_blocks("scatter", [NUMBER, NUMBER], [[1, 2]]) == ""


def test_a_curve_that_moves_by_less_than_its_numbers_say_is_a_line_at_the_bottom() -> None:
    columns = [{"name": "week", "type": "string"}, {"name": "parcels", "type": "number"}]
    chart = draw_blocks("line", columns, [["1", 64.40481], ["2", 64.40482], ["3", 64.40480]])
    *above, bottom, _ = chart.splitlines()
    assert bottom.endswith("│▁▁▁")
    assert not any(set(line) & set("▁▂▃▄▅▆▇█") for line in above)
