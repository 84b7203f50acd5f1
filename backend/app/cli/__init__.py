"""The `labcrew` command line: the service, one session from the terminal, accounts and keys."""
