"""Every computation runs in a cell: a forked, limited, killable process.

A worker runs computations (`computation_runner`) in cells that its `provider` gets from a `zygote`, the process
that cells are forked from. `programs` are what agents and users wrote, held by the language `policy`; the
`kernel` confines every cell, and `exchange` is what the processes tell one another.
"""
