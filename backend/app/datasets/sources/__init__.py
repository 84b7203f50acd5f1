"""Where bars of prices come from: a file, or an exchange."""
