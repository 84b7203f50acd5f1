/** Titles of the blocks that have none of their own; the appendix names itself. */
export const BLOCK_TITLES: Readonly<Record<string, string>> = {
	understanding: 'What was understood',
	answer: 'Answer',
	words: 'In words',
	drivers: 'What matters',
	looks: 'Looks',
	evidence: 'What it rests on',
	assumptions: 'Assumptions',
	actions: 'What to do',
	siblings: 'Branches of this session',
	reproducibility: 'Reproducibility'
};
