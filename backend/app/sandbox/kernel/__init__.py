"""Kernel interfaces: isolation of cells (Landlock, seccomp, namespaces), and processes of the service."""
