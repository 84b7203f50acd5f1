import type { Schema } from '#lib/api/client.ts';
import { cell, metricName, words } from '#lib/format.ts';

const texts = (value: unknown): string => (Array.isArray(value) ? value.map((item) => cell(item)).join(', ') : cell(value));

function settingText(name: string, value: unknown): string {
	if (name === 'metric') return `metric ${metricName(String(value))}`;
	if (name === 'leave_out') return `without ${texts(value)}`;
	return `${words(name).toLowerCase()} ${texts(value)}`;
}

/** What a branch does otherwise than the session that it was made of: `metric F1, “fewer trees”`. */
export function changeText(fork: Schema<'ForkView'> | null | undefined): string {
	if (!fork) return '';
	const { settings, preferences, note, answer } = fork.change;
	const parts = Object.entries({ ...preferences, ...settings })
		.filter(([, value]) => value !== null)
		.map(([name, value]) => settingText(name, value));
	if (answer !== undefined && answer !== null) parts.push(`answer ${texts(answer)}`);
	if (note) parts.push(`“${note}”`);
	return parts.join(', ') || 'nothing changed';
}
