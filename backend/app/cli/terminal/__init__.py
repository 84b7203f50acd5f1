"""Parts of every command: harmless text, tables, charts of blocks, exit codes and interrupts."""
