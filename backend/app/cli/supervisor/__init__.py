"""`labcrew up` and its parts: the processes of a service, kept running on one machine."""
