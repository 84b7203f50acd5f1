import { getContext, setContext } from 'svelte';

/** The place of a value: a recorded call of a session, and a JSON Pointer into its result. */
export interface CallReference {
	step: number;
	call: string;
	pointer?: string;
}

export interface EvidenceContext {
	/** The last recorded call of a tool; null where there is none. */
	find: (tool: string) => CallReference | null;
	show: (reference: CallReference, shown?: string) => void;
}

const KEY = Symbol('evidence');

export const provideEvidence = (context: EvidenceContext): EvidenceContext => setContext(KEY, context);

/** The drawer of the screen; null on a screen without one. */
export const useEvidence = (): EvidenceContext | null => getContext<EvidenceContext | undefined>(KEY) ?? null;
