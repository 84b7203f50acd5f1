// Draw specifications with the packages of the page, as `charts/vega.ts` does: a JSON list in, a list of SVGs out.
// Run by its text (`node --input-type=module -e`) in `frontend/`, where the packages are found.
import { readFileSync } from 'node:fs';
import { parse, View } from 'vega';
import { expressionInterpreter } from 'vega-interpreter';
import { compile, version } from 'vega-lite';

const refuse = () => Promise.reject(new Error('Charts load nothing.'));
const specifications = JSON.parse(readFileSync(process.argv[1], 'utf8'));
const drawings = [];
for (const specification of specifications) {
	const { spec } = compile(specification);
	const view = new View(parse(spec, undefined, { ast: true }), {
		expr: expressionInterpreter,
		renderer: 'none',
		loader: { load: refuse, sanitize: refuse, http: refuse, file: refuse }
	});
	drawings.push(await view.toSVG());
	view.finalize();
}
process.stdout.write(JSON.stringify({ version, drawings }));
