"""Chat models: any provider by name, and the offline one."""
