"""What runs inside a cell: files in, facts and files out."""
