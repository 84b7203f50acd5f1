"""Programs that agents and users write, as they run inside a cell."""
