/** What stands before the first of several suggestions, and before one alone or a list of examples. */
const NUMBERS: readonly string[] = ['(1)', '1.'];
const LEADS: readonly string[] = ['Do you mean', 'for example:'];

/** The words of an answer without what stands below them on their own: its readings, and its suggestions as buttons. */
export function answerText(text: string, readings: readonly string[], suggestions: readonly string[]): string {
	let shown = text;
	for (const reading of [...readings].reverse()) {
		if (shown.endsWith(reading)) shown = shown.slice(0, -reading.length).trimEnd();
	}
	const [first] = suggestions;
	// Its words alone would be found elsewhere too: an option may be the name of a column.
	for (const lead of first ? [...NUMBERS, ...LEADS] : []) {
		const at = shown.indexOf(`${lead} ${first}`);
		if (at >= 0) return shown.slice(0, NUMBERS.includes(lead) ? at : at + lead.length).trimEnd();
	}
	return shown;
}
