const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
	['day', 86_400],
	['hour', 3600],
	['minute', 60]
];

export function ago(iso: string, now: number = Date.now()): string {
	const seconds = (Date.parse(iso) - now) / 1000;
	for (const [unit, size] of UNITS) {
		if (Math.abs(seconds) >= size) return relative.format(Math.round(seconds / size), unit);
	}
	return 'just now';
}

/** A day and time by the reader's own clock: `Mon 30 Nov, 08:00`. */
export const moment = (iso: string): string =>
	new Date(iso).toLocaleString('en-GB', { weekday: 'short', day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });

export const day = (iso: string): string => new Date(iso).toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });

export function duration(seconds: number): string {
	if (seconds < 1) return `${Math.max(1, Math.round(seconds * 1000))} ms`;
	if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
	const minutes = Math.floor(seconds / 60);
	const [rest, unit, lower] = minutes < 60 ? [Math.round(seconds % 60), 'min', 's'] : [minutes % 60, 'h', 'min'];
	const amount = minutes < 60 ? minutes : Math.floor(minutes / 60);
	return rest ? `${amount} ${unit} ${rest} ${lower}` : `${amount} ${unit}`;
}

export function bytes(count: number): string {
	const units = ['B', 'kB', 'MB', 'GB'];
	let place = 0;
	let amount = count;
	while (amount >= 1000 && place < units.length - 1) {
		amount /= 1000;
		place += 1;
	}
	return `${place === 0 ? amount : amount.toFixed(1)} ${units[place]}`;
}

export const count = (value: number): string => value.toLocaleString('en');

const MAX_ROUNDED = 1000;

/** A number of a table, in as many digits as a reader compares; the exact one is its title. Sums of money keep their cents. */
export function figure(value: number): string {
	if (Number.isInteger(value)) return value.toLocaleString('en');
	const digits = Math.abs(value) < MAX_ROUNDED ? { maximumSignificantDigits: 6 } : { maximumFractionDigits: 2 };
	return value.toLocaleString('en', digits);
}

/** Metrics that are shares of the actual value, read in percent. */
const PERCENT: ReadonlySet<string> = new Set(['mape', 'smape']);

/** A score with as many digits as can matter, in the unit of its metric. */
export function score(value: number | null | undefined, metric: string): string {
	if (value == null) return '–';
	if (PERCENT.has(metric)) return `${(value * 100).toFixed(1)} %`;
	return Math.abs(value) >= 100 ? value.toFixed(1) : value.toFixed(3);
}

const METRICS: Readonly<Record<string, string>> = {
	roc_auc: 'ROC AUC',
	f1: 'F1 score',
	mae: 'MAE',
	rmse: 'RMSE',
	rmsle: 'RMSLE',
	mape: 'MAPE',
	smape: 'SMAPE',
	median_ae: 'Median absolute error',
	r2: 'R²',
	mcc: 'Matthews correlation',
	cohen_kappa: 'Cohen’s kappa',
	top_3_accuracy: 'Top-3 accuracy',
	brier: 'Brier score'
};

/** How a metric or a setting of the API is read: `roc_auc` is "ROC AUC", `read_dataset` is "read dataset". */
export const plain = (name: string): string => METRICS[name] ?? name.replaceAll('_', ' ');

export const metricName = (name: string): string => METRICS[name] ?? words(name);

/** A name of the API in words: `model_training` is "Model training". */
export function words(name: string): string {
	const text = name.replaceAll('_', ' ');
	return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Numbers that name something and count nothing have no thousands separators: years, identifiers, codes. */
export const isLabel = (column: string): boolean => /(?:^|[_ ])(?:year|id|no|nr|code|zip|postcode)\.?$/i.test(column);

const FIRST_DAYS: Readonly<Record<string, RegExp>> = { month: /-01$/, quarter: /-01$/, year: /-01-01$/ };

/** The periods of a column that is named by them: their first moment stands for the month, quarter or year. */
export function period(name: string, value: unknown): string {
	const text = cell(value, 'datetime');
	if (!FIRST_DAYS[name]?.test(text) || text.length > 10) return text;
	if (name === 'quarter') return `${text.slice(0, 4)} Q${Math.ceil(Number(text.slice(5, 7)) / 3)}`;
	return text.slice(0, name === 'year' ? 4 : 7);
}

/** A cell as it is read: of a `datetime`, midnight is the day. */
export function cell(value: unknown, type?: string): string {
	if (value === null || value === undefined) return '';
	if (type === 'datetime') return String(value).replace('T', ' ').replace(/ 00:00:00$/, '');
	return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
