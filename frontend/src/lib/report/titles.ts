/** Titles of the blocks that have none of their own; the appendix names itself. */
export const BLOCK_TITLES: Readonly<Record<string, string>> = {
	understanding: 'Understood',
	answer: 'Answer',
	words: 'Remarks',
	drivers: 'What matters most',
	looks: 'Looks at the data',
	evidence: 'Evidence',
	assumptions: 'On what it rests',
	actions: 'What to do',
	siblings: 'Branches of this session',
	reproducibility: 'Reproducibility'
};
