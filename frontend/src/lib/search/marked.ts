/** A text in parts, of which those that are the searched words are marked. */
export function markedParts(text: string, words: string): { text: string; isMarked: boolean }[] {
	const parts = [];
	const [lower, searched] = [text.toLowerCase(), words.toLowerCase()];
	let from = 0;
	for (let at = lower.indexOf(searched); searched && at >= 0; at = lower.indexOf(searched, from)) {
		if (at > from) parts.push({ text: text.slice(from, at), isMarked: false });
		parts.push({ text: text.slice(at, at + searched.length), isMarked: true });
		from = at + searched.length;
	}
	if (from < text.length) parts.push({ text: text.slice(from), isMarked: false });
	return parts;
}
