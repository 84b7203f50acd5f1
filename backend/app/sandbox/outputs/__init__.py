"""Files that cells leave: their folders, pipes and storage."""
