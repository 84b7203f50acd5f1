"""Functions of modules as programs have them, in place of those that read names, files or memory."""
