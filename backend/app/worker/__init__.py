"""Background edge; the only package that imports Celery (its client is in jobs.py)."""
