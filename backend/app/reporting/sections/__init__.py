"""One file a part of the report: facts in, a section out, or None where there is nothing to say."""
