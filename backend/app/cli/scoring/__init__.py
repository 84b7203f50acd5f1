"""How well the crew does: goals with answers that can be checked, put to the real service."""
