import adapter from '@sveltejs/adapter-static';
import { sveltekit } from '@sveltejs/kit/vite';
import { defineConfig } from 'vite';

// The API for `npm run dev`, where the page is served by Vite.
const api = 'http://127.0.0.1:8000';

export default defineConfig({
	plugins: [
		sveltekit({
			// The API compresses and serves what stands in this folder; scripts/build_page.py copies it there.
			adapter: adapter({ pages: '.svelte-kit/page', assets: '.svelte-kit/page', fallback: 'index.html', strict: true }),
			// A fixed name: the same sources give the same files, byte by byte.
			version: { name: 'studio', pollInterval: 0 },
			compilerOptions: { runes: true }
		})
	],
	build: { target: 'es2023', sourcemap: false },
	// The name of the page's own host goes along: the API refuses changes that come from another one.
	server: { proxy: { '/api': { target: api, changeOrigin: false } } }
});
