"""Operations of a feature recipe, by the columns that they transform."""
