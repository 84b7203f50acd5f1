// Before the first paint, so that a dark page does not flash. A file, since the policy allows no inline script.
(() => {
	const kept = localStorage.getItem('theme');
	if (kept === 'dark' || kept === 'light') document.documentElement.dataset.theme = kept;
})();
