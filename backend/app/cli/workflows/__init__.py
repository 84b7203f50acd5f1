"""`labcrew workflow`: saved pipelines, their versions and runs."""
