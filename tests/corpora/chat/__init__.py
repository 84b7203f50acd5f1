"""Questions of conversations."""
