"""Guards that compiled code calls: reads, writes and imports, special names, class statements, patterns."""
