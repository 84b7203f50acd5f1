/** Colours in tokens.css: more series than a legend tells apart. */
const SERIES = 10;

/** Colours of the page for Vega, read from the tokens, so that charts follow the theme. */
export function chartConfig(element: Element): Record<string, unknown> {
	const probe = document.createElement('span');
	element.append(probe);
	const color = (token: string): string => {
		probe.style.color = `var(${token})`;
		return getComputedStyle(probe).color;
	};
	const [ink, soft, line, accent] = ['--ink', '--ink-soft', '--line', '--accent'].map(color);
	const series = Array.from({ length: SERIES }, (_, place) => color(`--series-${place + 1}`));
	probe.remove();
	const font = getComputedStyle(element).fontFamily;
	return {
		background: 'transparent',
		font,
		title: { color: ink, fontSize: 15, anchor: 'start' },
		axis: { labelColor: soft, titleColor: soft, gridColor: line, domainColor: line, tickColor: line, labelFontSize: 12, titleFontSize: 12 },
		legend: { labelColor: soft, titleColor: soft },
		header: { labelColor: soft, titleColor: soft },
		text: { color: ink },
		view: { stroke: 'transparent' },
		mark: { color: accent },
		range: { category: series }
	};
}
