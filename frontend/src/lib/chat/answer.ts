/** The words of an answer without what stands below them on their own: its readings, and its suggestions as buttons. */
export function answerText(text: string, readings: readonly string[], suggestions: readonly string[]): string {
	let shown = text;
	for (const reading of [...readings].reverse()) {
		if (shown.endsWith(reading)) shown = shown.slice(0, -reading.length).trimEnd();
	}
	const first = suggestions[0];
	const at = first ? shown.indexOf(first) : -1;
	// The first of several has its number before it.
	return at > 0 ? shown.slice(0, at).replace(/(?:\s1\.)?\s*$/, '') : shown;
}
