const relative = new Intl.RelativeTimeFormat('en');
/** With their minutes. */
const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
	['day', 1440],
	['hour', 60],
	['minute', 1]
];

export function ago(iso: string, now: number = Date.now()): string {
	const minutes = Math.round((Date.parse(iso) - now) / 60_000);
	for (const [unit, size] of UNITS) {
		// In minutes that are rounded already: 59.6 of them are an hour.
		if (Math.abs(minutes) >= size) return relative.format(Math.round(minutes / size), unit);
	}
	return 'just now';
}

/** A day and time by the reader's own clock: `Mon 30 Nov, 08:00`, with the year where it is another one. */
export function moment(iso: string, now: number = Date.now()): string {
	const date = new Date(iso);
	const year = date.getFullYear() === new Date(now).getFullYear() ? {} : ({ year: 'numeric' } as const);
	return date.toLocaleString('en-GB', { weekday: 'short', day: 'numeric', month: 'short', ...year, hour: '2-digit', minute: '2-digit' });
}

export const day = (iso: string): string => new Date(iso).toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });

export function duration(seconds: number): string {
	if (seconds < 0.9995) return `${Math.max(1, Math.round(seconds * 1000))} ms`;
	if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
	const whole = Math.round(seconds);
	if (whole < 60) return `${whole} s`;
	// From an hour on seconds tell nobody more.
	const [amount, rest, unit, lower] =
		whole < 3600 ? [Math.floor(whole / 60), whole % 60, 'min', 's'] : [Math.floor(Math.round(seconds / 60) / 60), Math.round(seconds / 60) % 60, 'h', 'min'];
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

/** The beginning of a text, cut between words where it has any. */
export function beginning(text: string, length: number): string {
	if (text.length <= length) return text;
	const space = text.lastIndexOf(' ', length - 1);
	return `${text.slice(0, space > length / 2 ? space : length - 1).replace(/[\s,;:.]+$/, '')}…`;
}

/** A number with its noun: "1 row", "2 rows". */
export const amount = (value: number, noun: string, plural = `${noun}s`): string => `${count(value)} ${value === 1 ? noun : plural}`;

const MAX_ROUNDED = 1000;

/** A number of a table, in as many digits as a reader compares; the exact one is its title. Sums of money keep their cents. */
export function figure(value: number): string {
	if (Number.isInteger(value)) return value.toLocaleString('en');
	const digits = Math.abs(value) < MAX_ROUNDED ? { maximumSignificantDigits: 6 } : { maximumFractionDigits: 2 };
	return value.toLocaleString('en', digits);
}

/** Metrics that are shares of the actual value, read in percent. */
const PERCENT: ReadonlySet<string> = new Set(['mape', 'smape']);

/** Digits behind the point of a score; more where those would make it 0 or 1, which it is not. */
const SCORE_DIGITS = 3;
/** No score is as sure as more digits say. */
const MAX_SCORE_DIGITS = 6;

/** A score with as many digits as can matter, in the unit of its metric. */
export function score(value: number | null | undefined, metric: string): string {
	if (value == null) return '–';
	return PERCENT.has(metric) ? `${rounded(value * 100, 1)} %` : rounded(value, SCORE_DIGITS);
}

function rounded(value: number, digits: number): string {
	const size = Math.abs(value);
	if (size >= 1000) return value.toLocaleString('en', { maximumFractionDigits: 1, minimumFractionDigits: 1 });
	if (size >= 100) return value.toFixed(1);
	// Errors of a small target, and differences of scores.
	if (size > 0 && size < 0.01) return value.toLocaleString('en', { maximumSignificantDigits: SCORE_DIGITS });
	const gap = 1 - size;
	if (gap <= 0 || gap >= 0.5 * 10 ** -digits) return value.toFixed(digits);
	return value.toFixed(Math.min(MAX_SCORE_DIGITS, Math.ceil(-Math.log10(gap)) + 1));
}

/** A probability in percent; one that is not certain is never shown as if it were. */
export function chance(share: number): string {
	const percent = Math.round(share * 100);
	if (share > 0 && percent === 0) return '< 1 %';
	return share < 1 && percent === 100 ? '> 99 %' : `${percent} %`;
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

/** Units that names of the API end with, as they are written. */
const UNIT = /_(usd|ms|s)$/;

/** A name of the API in words: `model_training` is "Model training", `cost_usd` "Cost (USD)". */
export function words(name: string): string {
	const unit = UNIT.exec(name)?.[1];
	const plainName = name.replace(UNIT, '').replaceAll('_', ' ');
	const text = unit ? `${plainName} (${unit === 'usd' ? 'USD' : unit})` : plainName;
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
