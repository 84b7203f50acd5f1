import type { Schema } from '#lib/api/client.ts';
import type { SessionEvent } from '#lib/session/events.ts';
import { StepClock } from '#lib/session/step-clock.ts';

export interface TimelineItem {
	key: string;
	kind: 'call' | 'words' | 'fits' | 'question' | 'running';
	title: string;
	text: string;
	seconds: number | null;
	failed: boolean;
	/** The recorded call behind it. */
	call: string | null;
}

export interface TimelineStep {
	step: number;
	node: string;
	state: 'done' | 'running' | 'copied';
	seconds: number | null;
	items: TimelineItem[];
}

const item = (part: Partial<TimelineItem> & Pick<TimelineItem, 'key' | 'kind' | 'title'>): TimelineItem => ({
	text: '',
	seconds: null,
	failed: false,
	call: null,
	...part
});

/** The steps of a session in order, with what happened in each. */
export class Timeline {
	steps = $state<TimelineStep[]>([]);
	/** Fits that have ended: the usage of a session has those of a step only after the step. */
	fitCount = $state(0);
	/** Places of items in their steps, by step and key: to look through thousands of them for each event takes seconds. */
	readonly #places = new Map<string, number>();
	readonly #fits = new Map<string, Map<string, number>>();
	readonly #clock = new StepClock();

	/** Put the steps before the events that a fork copied: they have none. */
	addCopied(copied: Schema<'StepView'>[]): void {
		for (const row of copied) {
			const step = this.#step(row.step);
			step.node = row.node;
			step.state = 'copied';
			step.items = row.calls
				.filter((call) => call.kind === 'tool')
				.map((call) => item({ key: call.key, kind: 'call', title: call.name, call: call.key, failed: call.failed }));
		}
	}

	add(event: SessionEvent): void {
		const worked = this.#clock.read(event);
		switch (event.kind) {
			case 'step_started': {
				const step = this.#step(event.step);
				step.node = event.node;
				break;
			}
			case 'step_finished': {
				const step = this.#step(event.step);
				Object.assign(step, { node: event.node, state: 'done', seconds: worked });
				this.#dropRunning(step);
				break;
			}
			case 'tool_called':
				this.#put(event.step, item({ key: event.call, kind: 'running', title: event.tool, text: event.agent }));
				break;
			case 'tool_returned':
				this.#put(
					event.step,
					item({
						key: event.call,
						kind: 'call',
						title: event.tool,
						text: event.summary,
						seconds: event.duration_ms / 1000,
						failed: event.failed,
						call: event.call
					})
				);
				break;
			case 'message':
				if (event.role !== 'user') {
					const key = `words:${event.seq}`;
					this.#put(event.step, item({ key, kind: 'words', title: event.role, text: event.text }));
				}
				break;
			case 'fit_finished':
				this.#addFit(event.round, event.name, event.status);
				break;
			default:
		}
	}

	/** A round of fits is one line: its candidates by name. */
	#addFit(round: string, name: string, status: string): void {
		this.fitCount += 1;
		const step = Number(round.split('.')[0]);
		const key = `fits:${round}`;
		const counts = this.#fits.get(key) ?? new Map<string, number>();
		counts.set(name, (counts.get(name) ?? 0) + 1);
		this.#fits.set(key, counts);
		const former = this.#step(step).items[this.#places.get(`${step} ${key}`) ?? -1];
		const text = [...counts].map(([model, count]) => (count > 1 ? `${model} ${count}×` : model)).join(', ');
		const failed = (former?.failed ?? false) || status === 'failed';
		this.#put(step, item({ key, kind: 'fits', title: 'Models fitted', text, failed }));
	}

	#step(number: number): TimelineStep {
		const known = this.steps.find((step) => step.step === number);
		if (known) return known;
		const after = this.steps.findIndex((step) => step.step > number);
		const place = after < 0 ? this.steps.length : after;
		this.steps.splice(place, 0, { step: number, node: '', state: 'running', seconds: null, items: [] });
		return this.steps[place] as TimelineStep;
	}

	/** What a finished step did not return from no longer runs. */
	#dropRunning(step: TimelineStep): void {
		if (!step.items.some((entry) => entry.kind === 'running')) return;
		for (const entry of step.items) this.#places.delete(`${step.step} ${entry.key}`);
		step.items = step.items.filter((entry) => entry.kind !== 'running');
		step.items.forEach((entry, place) => this.#places.set(`${step.step} ${entry.key}`, place));
	}

	#put(number: number, entry: TimelineItem): void {
		const items = this.#step(number).items;
		const id = `${number} ${entry.key}`;
		const place = this.#places.get(id);
		if (place === undefined) this.#places.set(id, items.push(entry) - 1);
		else items[place] = entry;
	}
}

/** The last item of a tool that returned, with its step; null where it was not called. */
export function lastItem(steps: TimelineStep[], tool: string): { step: number; item: TimelineItem } | null {
	for (const step of steps.toReversed()) {
		const item = step.items.findLast((entry) => entry.call !== null && !entry.failed && entry.title === tool);
		if (item) return { step: step.step, item };
	}
	return null;
}
