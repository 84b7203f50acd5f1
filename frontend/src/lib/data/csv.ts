/** Rows as text: of a CSV file (RFC 4180), or separated by tabs, as spreadsheets take them from the clipboard. */

const text = (value: unknown): string =>
	value === null || value === undefined ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value);

const quoted = (field: string, separator: string): string =>
	field.includes(separator) || /["\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;

export function separated(columns: readonly string[], rows: readonly (readonly unknown[])[], separator: ',' | '\t' = ','): string {
	return [columns, ...rows].map((row) => row.map((value) => quoted(text(value), separator)).join(separator)).join('\r\n') + '\r\n';
}
