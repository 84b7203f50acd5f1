"""Variables of a program on their way from one execution to the next. Runs in cells only."""
