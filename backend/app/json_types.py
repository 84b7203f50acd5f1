"""Type aliases of strict JSON: no NaN, no infinity, keys are text."""

JsonScalar = None | bool | int | float | str
JsonValue = None | bool | int | float | str | list["JsonValue"] | dict[str, "JsonValue"]
