"""`labcrew chat`: conversations in the terminal, their branches and their studies."""
