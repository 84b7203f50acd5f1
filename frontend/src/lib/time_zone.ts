/** The browser's time zone, in which schedules are meant whose words name none; null where the browser does not know it. */
export function timeZone(): string | null {
	const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
	return zone && zone !== 'Etc/Unknown' ? zone : null;
}
