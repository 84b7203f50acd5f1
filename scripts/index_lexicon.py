"""Makes `backend/app/agents/goals/lexicon/index.txt` from the files of the lexicon.

`PYTHONPATH=backend python scripts/index_lexicon.py`, whenever a line of the lexicon, the stemmer or the list of
function words has changed.
"""

from app.agents.goals.lexicon.concept_matches import lexicon_files, load_concept_lines
from app.agents.goals.lexicon.index import INDEX_FILE, source_digest, write_index


def main() -> None:
    digest = source_digest(lexicon_files())
    INDEX_FILE.write_text(f"{digest}\n{write_index(load_concept_lines())}", encoding="utf-8")


if __name__ == "__main__":
    main()
