"""Times in goals and in names of columns: units of the calendar, horizons, columns that tell a period."""
