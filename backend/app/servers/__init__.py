"""Embedded servers: Postgres and Valkey from wheels, for a machine that has neither."""
