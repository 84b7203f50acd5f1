"""The process that cells are forked from, and the cells themselves."""
