"""Files of a computation: its workspace, frames and models, figures, and tables in batches."""
