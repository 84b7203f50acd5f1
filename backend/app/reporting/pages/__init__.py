"""One file a block of the pages for a reader: facts in, a block out, or None where there is nothing to say."""
