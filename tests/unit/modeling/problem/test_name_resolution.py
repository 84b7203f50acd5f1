from app.modeling.problem.name_resolution import hint_names


def test_a_hint_has_the_nearest_names_else_the_first_else_says_that_there_are_none() -> None:
    names = [f"name_{number}" for number in range(40)]
    assert hint_names(["name_1"], names) == "Did you mean name_1?"
    assert hint_names((), names) == f"There are: {', '.join(names[:30])}."
    assert hint_names((), ()) == "There are none."
