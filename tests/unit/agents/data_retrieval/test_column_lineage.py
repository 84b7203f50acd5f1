"""Columns that must not be used are recognised under other names."""

import pytest

from app.agents.column_lineage import derived_columns, unnamed_columns


@pytest.mark.parametrize(
    ("sql", "derived"),
    [
        ("SELECT * FROM t", []),
        ("SELECT smoker AS s, age FROM t", ["s"]),
        ("SELECT CASE WHEN \"Smoker\" = 'yes' THEN 1 END AS flag, age AS a FROM t", ["flag"]),
        ("WITH x AS (SELECT smoker AS s, age FROM t) SELECT s AS habit, age FROM x", ["s", "habit"]),
        ("SELECT age, (SELECT max(smoker) FROM t) AS top FROM t", ["top"]),
        ("SELECT age AS a FROM t WHERE smoker = 'yes'", []),
        ("SELECT (SELECT avg(age) FROM u WHERE u.smoker = t.smoker) AS mean_age FROM t", []),
        ("SELECT 1 AS one FROM", []),
    ],
)
def test_aliases_of_expressions_of_an_excluded_column_are_found(sql, derived):
    assert derived_columns(sql, ["smoker"]) == derived


def test_an_expression_without_an_alias_is_found_by_its_name():
    columns = ["age", "upper(smoker)", 'max("age")']
    assert unnamed_columns(columns, ["smoker"]) == ["upper(smoker)"]
