/** A cell of a grid. Row -1 is that of the column heads. */
export interface CellPlace {
	row: number;
	column: number;
}

export interface GridSize {
	rows: number;
	columns: number;
	/** Rows that are in view at once. */
	page: number;
}

/** The cell to which a key leads, as in the grid pattern of ARIA; nothing for a key that moves nowhere. */
export function moveByKey(event: KeyboardEvent, from: CellPlace, size: GridSize): CellPlace | null {
	const isFar = event.ctrlKey || event.metaKey;
	const [row, column] = [from.row, from.column];
	const places: Record<string, CellPlace> = {
		ArrowDown: { row: row + 1, column },
		ArrowUp: { row: row - 1, column },
		ArrowRight: { row, column: column + 1 },
		ArrowLeft: { row, column: column - 1 },
		PageDown: { row: Math.max(0, row) + size.page, column },
		PageUp: { row: Math.max(0, row - size.page), column },
		Home: { row: isFar ? 0 : row, column: isFar ? column : 0 },
		End: { row: isFar ? size.rows - 1 : row, column: isFar ? column : size.columns - 1 }
	};
	const place = event.altKey || event.shiftKey ? undefined : places[event.key];
	return place ? clampPlace(place, size) : null;
}

/** The place of the column that is meant by its name, or by a part of it, in any case; null where no name has that. */
export function findColumn(names: readonly string[], words: string): number | null {
	const searched = words.trim().toLowerCase();
	if (!searched) return null;
	const lower = names.map((name) => name.toLowerCase());
	const places = [lower.indexOf(searched), lower.findIndex((name) => name.startsWith(searched)), lower.findIndex((name) => name.includes(searched))];
	return places.find((place) => place >= 0) ?? null;
}

export const clampPlace = (place: CellPlace, size: GridSize): CellPlace => ({
	row: Math.max(-1, Math.min(size.rows - 1, place.row)),
	column: Math.max(0, Math.min(size.columns - 1, place.column))
});
