"""The planner: parses the goal and decides on target, tables and metric."""
