"""Queries, answers and statements of conversations on tables, as SQL under the policy."""
