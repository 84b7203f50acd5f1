"""The data-science graph over durable sessions."""
