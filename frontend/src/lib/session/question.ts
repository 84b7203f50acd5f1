import type { Schema } from '#lib/api/client.ts';

export type Json = Schema<'JsonValue'>;

/** What a question's JSON Schema lets its user say, as parts of a form. */
export interface AnswerForm {
	options: Json[];
	/** The longest text that is an answer; 0 where none is. */
	maxText: number;
	number: { min: number | null; isWhole: boolean } | null;
	/** The option that takes a reason. */
	hasReason: boolean;
	/** The schema is none of the known forms: the answer is written as JSON. */
	isRaw: boolean;
}

interface JsonSchema {
	type?: string;
	const?: Json;
	enum?: Json[];
	anyOf?: JsonSchema[];
	oneOf?: JsonSchema[];
	properties?: Record<string, JsonSchema>;
	minimum?: number;
	exclusiveMinimum?: number;
	maxLength?: number;
}

export function answerForm(question: Pick<Schema<'QuestionView'>, 'answer_schema' | 'options'>): AnswerForm {
	const form: AnswerForm = {
		options: question.options as Json[],
		maxText: 0,
		number: null,
		hasReason: false,
		isRaw: false
	};
	for (const schema of alternatives(question.answer_schema)) {
		const constants = schema.enum ?? (schema.const === undefined ? [] : [schema.const]);
		if (!form.options.length && constants.length) form.options = constants;
		if (schema.type === 'string' && !constants.length) form.maxText = schema.maxLength ?? 4000;
		if (schema.type === 'number' || schema.type === 'integer') {
			const min = schema.minimum ?? schema.exclusiveMinimum ?? null;
			form.number = { min, isWhole: schema.type === 'integer' };
		}
		if (schema.type === 'boolean') form.options = [true, false];
		if (schema.properties?.decision?.const === 'reject' && schema.properties.reason) form.hasReason = true;
	}
	form.isRaw = !form.options.length && !form.maxText && !form.number;
	return form;
}

function alternatives(schema: JsonSchema): JsonSchema[] {
	const parts = schema.anyOf ?? schema.oneOf;
	return parts ? parts.flatMap(alternatives) : [schema];
}

/** Arguments of the call that an approval is about, where its schema lets them be changed; else null. */
export function callArguments(question: Pick<Schema<'QuestionView'>, 'answer_schema' | 'about'>): Record<string, Json> | null {
	const given = question.about.arguments;
	const takesThem = alternatives(question.answer_schema).some(
		(schema) => schema.properties?.decision?.const === 'approve' && schema.properties.arguments !== undefined
	);
	return takesThem ? given : null;
}

/** Arguments as texts to edit: a text as it stands, any other value as JSON. */
export const writeArguments = (values: Record<string, Json>): Record<string, string> =>
	Object.fromEntries(
		Object.entries(values).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)])
	);

/** The values of edited texts. Throws Error that names the argument which is no JSON. */
export function readArguments(values: Record<string, Json>, texts: Record<string, string>): Record<string, Json> {
	return Object.fromEntries(
		Object.entries(texts).map(([name, text]) => [name, typeof values[name] === 'string' ? text : readJson(name, text)])
	);
}

function readJson(name: string, text: string): Json {
	try {
		return JSON.parse(text) as Json;
	} catch {
		throw new Error(`${name} is not JSON.`);
	}
}

/** The numbered lines of a plan in the text of its review. */
export const planLines = (text: string): string[] =>
	text.split('\n').flatMap((line) => /^\d+\. (.+)$/.exec(line)?.slice(1) ?? []);

export const isPlanReview = (question: Pick<Schema<'QuestionView'>, 'kind' | 'about'>): boolean =>
	question.kind === 'approval' && question.about.plan !== null;

/** What was understood, in the review of a plan; null where the planner made no sentence of it. */
export const readUnderstood = (about: Schema<'QuestionSubject'>): Schema<'UnderstoodGoal'> | null =>
	about.understood?.text ? about.understood : null;
