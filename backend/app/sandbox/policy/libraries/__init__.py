"""Guards inside libraries, put there when a library is imported, for what they do on a program's behalf."""
