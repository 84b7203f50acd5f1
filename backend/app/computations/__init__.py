"""Computations that run inside sandbox cells: files in, facts and files out."""
