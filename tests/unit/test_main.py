import subprocess
import sys

HEAVY = ("celery", "duckdb", "langchain", "langgraph", "matplotlib", "numpy", "pandas", "sklearn", "xgboost")


def test_the_api_process_stays_light() -> None:
    """Whatever computes lives in cells; whatever drives sessions lives in workers."""
    program = f"import sys, app.main; print([name for name in {HEAVY!r} if name in sys.modules])"
    ended = subprocess.run([sys.executable, "-c", program], check=True, text=True, capture_output=True)
    assert ended.stdout.strip() == "[]"
