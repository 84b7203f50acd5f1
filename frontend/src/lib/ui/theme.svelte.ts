const root = document.documentElement;
const system = matchMedia('(prefers-color-scheme: dark)');

/** Light or dark: as the system says, until the switch was used. */
class Theme {
	isDark = $state(root.dataset.theme ? root.dataset.theme === 'dark' : system.matches);

	constructor() {
		system.addEventListener('change', () => {
			if (!root.dataset.theme) this.isDark = system.matches;
		});
	}

	flip(): void {
		this.isDark = !this.isDark;
		root.dataset.theme = this.isDark ? 'dark' : 'light';
		localStorage.setItem('theme', root.dataset.theme);
	}
}

export const theme = new Theme();
