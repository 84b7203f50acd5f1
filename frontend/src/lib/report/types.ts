import type { Schema } from '#lib/api/client.ts';

export type ReportDocument = Schema<'ReportJson'>;
export type Claim = Schema<'ClaimJson'>;
export type Block = ReportDocument['blocks'][number];
export type Element = Schema<'AppendixBlock'>['elements'][number];

/** A piece of text: words, a claim by id, or a name. The document's schema knows the last two as objects only. */
export type Piece = string | { claim: string } | { name: string; code?: boolean };
export type Text = readonly unknown[];

export function piece(part: unknown): Piece {
	if (typeof part === 'string') return part;
	const fields = part as { claim?: unknown; name?: unknown; code?: unknown };
	if (typeof fields.claim === 'string') return { claim: fields.claim };
	return { name: String(fields.name ?? ''), code: fields.code === true };
}

/** What every part of a report needs: its claims, its pictures, and the way to show the evidence of a claim. */
export interface ReportContext {
	/** Artifacts that are files of rows, by their names. */
	files: ReadonlyMap<string, string>;
	claims: ReadonlyMap<string, Claim>;
	pictures: ReadonlyMap<string, string>;
	show: (claim: Claim) => void;
}
