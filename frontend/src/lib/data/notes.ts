import type { Schema } from '#lib/api/client.ts';

/**
 * What was repaired and left out when the file of a table was read, with the numbers of rows: the list that the report,
 * the terminal and the model card have too.
 */
export function fileNotes(dataset: Schema<'DatasetView'>): string[] {
	const { notes } = dataset.format;
	return Array.isArray(notes) ? notes.map(String) : [];
}
