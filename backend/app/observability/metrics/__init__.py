"""Metrics, with names and units by Prometheus's conventions, and few labels of closed sets.

A label's value is a word of the service (a route, an agent, a tool, a status): never an id or a user's text,
since each new value makes a series.
"""
