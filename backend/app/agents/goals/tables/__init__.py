"""Facts of tables that words are compared with: profiles and roles of columns, units, kinds of quantities."""
