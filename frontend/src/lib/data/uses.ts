import { api, read, type Schema } from '#lib/api/client.ts';
import { PagedList } from '#lib/api/resource.svelte.ts';

export type DatasetUse = Schema<'DatasetUse'>;

/** Uses of one page: a table is seldom used more often, and a dialog holds no more. */
const PAGE = 20;

/** Where the page shows what uses a dataset; a table of predictions has no screen of its own. */
const PATHS: Readonly<Partial<Record<DatasetUse['kind'], string>>> = {
	session: '/sessions',
	thread: '/chat',
	model: '/models',
	workflow: '/workflows'
};

export const usesOf = (dataset_id: string): PagedList<DatasetUse> =>
	new PagedList((after) =>
		read(
			api.GET('/api/v1/datasets/{dataset_id}/uses', {
				params: { path: { dataset_id }, query: { limit: PAGE, ...(after && { after }) } }
			})
		)
	);

export function addressOfUse(use: DatasetUse): string | null {
	if (use.workflow_id) return `/workflows/${use.workflow_id}?run=${use.id}`;
	if (use.kind === 'run') return '/runs';
	const path = PATHS[use.kind];
	return path ? `${path}/${use.id}` : null;
}

/** What people call a kind of use. */
export const useNoun = (use: DatasetUse): string =>
	use.workflow_id ? 'run of a workflow' : use.kind === 'thread' ? 'conversation' : use.kind === 'artifact' ? 'predictions' : use.kind;
