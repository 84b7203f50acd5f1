"""Messages that change the answer before them: its rows, order, columns or chart."""
