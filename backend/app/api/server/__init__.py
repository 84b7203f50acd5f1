"""The server around the routes: protocols, middleware, limits, the page, and its shutdown."""
