"""What an operator can watch. Names and units by Prometheus's conventions; labels are few and closed.

A label is a word of ours (a route, an agent, a tool, a status): never an id, and nothing that a user wrote.
"""
