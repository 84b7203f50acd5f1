"""Every computation runs in a cell: a forked, limited, killable process."""
