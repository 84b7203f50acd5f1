"""Dependencies of routes: the caller, services, and parameters that many routes share."""
