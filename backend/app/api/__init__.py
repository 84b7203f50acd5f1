"""HTTP, SSE and WebSocket edge; the only package that imports FastAPI."""
