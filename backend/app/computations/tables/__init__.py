"""Rows, figures and differences of tables, as the page and the API show them."""
