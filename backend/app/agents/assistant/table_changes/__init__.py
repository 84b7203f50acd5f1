"""Changes of tables in words: columns renamed, removed, converted and made, values filled and replaced, rows
removed, and tables made of others."""
