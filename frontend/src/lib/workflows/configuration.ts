/** Settings of nodes as text: conditions of rows in words, lists by commas, anything else as JSON. */

type Part = Readonly<Record<string, unknown>>;

const isPart = (value: unknown): value is Part => typeof value === 'object' && value !== null && !Array.isArray(value);
const isScalar = (value: unknown): boolean => value === null || typeof value !== 'object';
const join = (values: unknown, by: string): string => (Array.isArray(values) ? values.map(describeExpression).join(by) : '');

/** The kinds of the expressions of query plans (`GET /workflow-schema`) that read well as a line. */
const EXPRESSIONS: Readonly<Record<string, (part: Part) => string>> = {
	column: (part) => String(part['name']),
	literal: (part) => JSON.stringify(part['value']),
	arithmetic: (part) => `${describeExpression(part['left'])} ${part['op']} ${describeExpression(part['right'])}`,
	compare: (part) => `${describeExpression(part['left'])} ${part['op']} ${describeExpression(part['right'])}`,
	and: (part) => join(part['operands'], ' and '),
	or: (part) => `(${join(part['operands'], ' or ')})`,
	not: (part) => `not (${describeExpression(part['operand'])})`,
	is_null: (part) => `${describeExpression(part['operand'])} is missing`,
	in: (part) => `${describeExpression(part['operand'])} is one of ${join(part['values'], ', ')}`,
	between: (part) => `${describeExpression(part['operand'])} is between ${describeExpression(part['low'])} and ${describeExpression(part['high'])}`,
	like: (part) => `${describeExpression(part['operand'])} is like ${JSON.stringify(part['pattern'])}`,
	contains: (part) => `${describeExpression(part['operand'])} contains ${JSON.stringify(part['text'])}`,
	date_part: (part) => `${part['part']} of ${describeExpression(part['operand'])}`,
	date_trunc: (part) => `${part['unit']} of ${describeExpression(part['operand'])}`,
	cast: (part) => `${describeExpression(part['operand'])} as ${part['to']}`,
	call: (part) => `${part['function']}(${join(part['arguments'], ', ')})`
};

function describeExpression(value: unknown): string {
	const describe = isPart(value) ? EXPRESSIONS[String(value['kind'])] : undefined;
	return describe ? describe(value as Part) : JSON.stringify(value);
}

/** One setting as text; several lines where it has them or nests. */
export function describeSetting(value: unknown): string {
	if (typeof value === 'string') return value;
	if (isScalar(value)) return JSON.stringify(value);
	if (isPart(value) && String(value['kind']) in EXPRESSIONS) return describeExpression(value);
	if (Array.isArray(value) && value.every(isScalar)) return value.map(String).join(', ');
	if (Array.isArray(value) && value.every((item) => isPart(item) && Object.values(item).every(isScalar)))
		return value.map((item) => describeFlat(item as Part)).join('\n');
	if (isPart(value) && Object.values(value).every(isScalar)) return describeFlat(value);
	return JSON.stringify(value, null, 2);
}

const describeFlat = (part: Part): string =>
	Object.entries(part)
		.map(([name, value]) => `${name.replaceAll('_', ' ')} ${String(value)}`)
		.join(', ');

const flatten = (value: unknown): Part[] => (Array.isArray(value) ? value.filter(isPart) : []);

/** Settings that are lists of records, as one line. */
const LISTS: Readonly<Record<string, (part: Part) => string>> = {
	aggregations: (part) => `${part['function']}${part['column'] ? ` of ${part['column']}` : ''}`,
	keys: (part) => `${part['column']}${part['descending'] ? ', descending' : ''}`
};

/** Settings that name a thing of their own: a row of letters and digits says nothing. */
const isIdentifier = (name: string): boolean => name.endsWith('_id') || name === 'kind';

/** What a node does, as one line from its settings: `sum of amount by category`. Empty where it has none that read well. */
export function summarize(config: Part): string {
	if (config['aggregations']) {
		const figures = flatten(config['aggregations']).map(LISTS['aggregations'] as (part: Part) => string);
		return [figures.join(', '), joinPlain(config['keys'])].filter(Boolean).join(' by ');
	}
	const parts = Object.entries(config).flatMap(([name, value]) => {
		if (value === null || isIdentifier(name)) return [];
		const records = flatten(value);
		const describe = LISTS[name];
		return [describe && records.length ? records.map(describe).join(', ') : describeSetting(value)];
	});
	return parts.filter((part) => !part.includes('\n')).join(', ');
}

const joinPlain = (values: unknown): string => (Array.isArray(values) ? values.map(String).join(', ') : '');
