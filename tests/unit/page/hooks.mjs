/** Let Node import the page's sources: modules with runes and components are compiled as the build does. */
import { readFileSync } from 'node:fs';
import { createRequire, registerHooks, stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';

const require = createRequire(new URL('../../../frontend/package.json', import.meta.url));
const { compile, compileModule } = require('svelte/compiler');

function compileSource(filename) {
	const source = readFileSync(filename, 'utf8');
	const options = { filename, generate: 'server' };
	if (filename.endsWith('.svelte')) return compile(source, { ...options, runes: true }).js.code;
	return compileModule(stripTypeScriptTypes(source), options).js.code;
}

registerHooks({
	resolve(name, context, next) {
		// The address of a worker is known to the build only.
		if (name.endsWith('?sharedworker&url')) return { url: 'data:text/javascript,export default ""', shortCircuit: true };
		return next(name, context);
	},
	load(url, context, next) {
		if (!/\.svelte(\.ts)?$/.test(url)) return next(url, context);
		return { format: 'module', source: compileSource(fileURLToPath(url)), shortCircuit: true };
	}
});

// Events of the window, which never come here.
globalThis.addEventListener ??= () => undefined;
