import type { ColumnProfile } from '#lib/data/profile.ts';
import { isLabel } from '#lib/format.ts';

/** Names that people give to what they want to know in advance; the last word of a name counts too. */
const OUTCOMES = new Set([
	'target', 'label', 'outcome', 'survived', 'churn', 'churned', 'left', 'default', 'price', 'sales', 'revenue',
	'amount', 'demand', 'rating', 'score', 'income', 'salary', 'species', 'diagnosis', 'fraud', 'clicked', 'converted'
]);
const MAX_GROUPS = 30;
const MIN_VALUES = 6;
/** A whole number with fewer values is rather a code than a quantity. */

const isOutcome = (name: string): boolean => OUTCOMES.has(name.toLowerCase().split(/[^a-z]/).at(-1) ?? '');
/** Numbers of members and orders have a mean, which says nothing; a row that is there twice makes them no longer unique. */
const isIdentifier = (column: ColumnProfile): boolean =>
	column.isUnique || column.hint === 'identifier' || isLabel(column.name);
const isQuantity = (column: ColumnProfile): boolean =>
	column.quantiles !== null && !isIdentifier(column) && column.distinct >= MIN_VALUES;
const isGroup = (column: ColumnProfile): boolean =>
	column.quantiles === null && !column.isUnique && column.distinct > 1 && column.distinct <= MAX_GROUPS && column.type !== 'datetime';
const isTwofold = (column: ColumnProfile): boolean => column.distinct === 2;

/** A name as a question holds it: between backticks where words alone would not be read as one name. */
const quoted = ({ name }: ColumnProfile): string => (/^[\p{L}_][\p{L}\p{N}_]*$/u.test(name) || name.includes('`') ? name : `\`${name}\``);

/** Questions about these very columns that the assistant understands, three at most. */
export function suggestedQuestions(columns: ColumnProfile[]): string[] {
	const quantity = columns.find((column) => isQuantity(column) && isOutcome(column.name)) ?? columns.find(isQuantity);
	const groups = columns.filter(isGroup);
	const [first, second = first] = groups;
	return [
		quantity && first && `Mean ${quoted(quantity)} by ${quoted(first)}`,
		second && `How many rows by ${quoted(second)}?`,
		quantity && `What is the maximum ${quoted(quantity)}?`
	].filter((question) => typeof question === 'string');
}

/** A goal for the crew; null where no column looks like something to predict. */
export function suggestedGoal(columns: ColumnProfile[]): string | null {
	const target =
		columns.find((column) => isOutcome(column.name) && (isQuantity(column) || isGroup(column) || isTwofold(column))) ??
		columns.filter(isTwofold).at(-1) ??
		columns.find(isQuantity);
	return target ? `Predict ${quoted(target)}` : null;
}
