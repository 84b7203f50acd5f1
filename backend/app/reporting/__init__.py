"""Pure: results in, Markdown, HTML and figures out."""
