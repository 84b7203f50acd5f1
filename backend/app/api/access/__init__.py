"""Access to the API: cookies of browsers, scopes of keys, rates of requests, and signing in."""
