"""Outgoing requests of workflows: only to allowed hosts, bounded in size, time and number."""
