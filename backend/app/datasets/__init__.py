"""Uploaded tables and stored price bars."""
