/** A text in parts, of which those that are one of the searched words are marked. */
export function markedParts(text: string, words: string): { text: string; isMarked: boolean }[] {
	const parts = [];
	const lower = text.toLowerCase();
	// The longest first: a word that begins another one must not cut it.
	const searched = words.toLowerCase().split(/\s+/).filter(Boolean).sort((one, other) => other.length - one.length);
	let from = 0;
	for (let at = 0; at < text.length; ) {
		const word = searched.find((each) => lower.startsWith(each, at));
		if (!word) {
			at += 1;
			continue;
		}
		if (at > from) parts.push({ text: text.slice(from, at), isMarked: false });
		parts.push({ text: text.slice(at, at + word.length), isMarked: true });
		from = at = at + word.length;
	}
	if (from < text.length) parts.push({ text: text.slice(from), isMarked: false });
	return parts;
}
