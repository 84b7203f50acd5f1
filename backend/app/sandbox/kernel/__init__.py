"""Kernel interfaces that isolate a cell: Landlock, seccomp, namespaces and system calls."""
