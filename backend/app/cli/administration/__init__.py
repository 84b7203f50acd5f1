"""Commands of an operator: accounts, backups, blobs, retention, and checks of the machine."""
