/** Rows as text: of a CSV file (RFC 4180), or separated by tabs, as spreadsheets take them from the clipboard. */

const text = (value: unknown): string =>
	value === null || value === undefined ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value);

/** First characters at which a spreadsheet takes a text for a formula and carries it out, by OWASP's list. */
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

/** A text that would be a formula gets an apostrophe, as in the exports of the API; a number stays as it is. */
const safe = (value: unknown): string => {
	const field = text(value);
	return typeof value === 'string' && FORMULA.test(field) && !Number.isFinite(Number(field)) ? `'${field}` : field;
};

const quoted = (field: string, separator: string): string =>
	field.includes(separator) || /["\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;

export function separated(columns: readonly string[], rows: readonly (readonly unknown[])[], separator: ',' | '\t' = ','): string {
	return [columns, ...rows].map((row) => row.map((value) => quoted(safe(value), separator)).join(separator)).join('\r\n') + '\r\n';
}
