/** What the drawings of charts share. */

export type Series = {
  readonly label: string
  /** One for each label of the chart. Null for none. */
  readonly values: readonly (string | number | null)[]
}

/** What a chart draws, in one way or another. */
export type Drawn = {
  readonly title: string
  /** What the labels are, such as "Day". */
  readonly by: string
  readonly labels: readonly string[]
  readonly series: readonly Series[]
  /** How a value is shown, such as `money`. */
  readonly show: (value: string) => string
}

type Value = Series['values'][number] | undefined

export function shown(value: Value, show: Drawn['show']): string {
  return value === null || value === undefined ? '–' : show(String(value))
}

export function heightOf(value: Value): number {
  return value === null || value === undefined ? 0 : Number(value)
}

export const SERIES_COLOURS = 6

export function seriesClass(index: number): string {
  return `series-${index % SERIES_COLOURS}`
}

const TICKS = 4

/** Round steps from `least` to at least `most`, with zero among them. */
export function ticksFor(least: number, most: number): readonly number[] {
  const step = niceStep((Math.max(0, most) - Math.min(0, least)) / TICKS)
  const first = Math.floor(Math.min(0, least) / step)
  const last = Math.max(first + 1, Math.ceil(Math.max(0, most) / step))
  return Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step)
}

/** The next of 1, 2, 2.5, 5 or 10 times a power of ten, so that the ticks are short numbers. */
function niceStep(step: number): number {
  if (step <= 0) return 1 / TICKS
  const power = 10 ** Math.floor(Math.log10(step))
  const factor = [1, 2, 2.5, 5].find(factor => factor * power >= step) ?? 10
  return factor * power
}

/** The texts of ticks, all with as many decimals: `$0.025`, `$0.050`. */
export function tickTexts(ticks: readonly number[], show: Drawn['show']): readonly string[] {
  const texts = ticks.map(tick => show(plainNumber(tick)))
  const decimals = Math.max(...texts.map(text => decimalsOf(text).length))
  return texts.map(text =>
    decimalsOf(text) === ''
      ? text
      : text.slice(0, -decimalsOf(text).length) + decimalsOf(text).padEnd(decimals, '0'),
  )
}

/** The digits after the point at the end of an amount. */
function decimalsOf(text: string): string {
  return /\.(\d+)$/.exec(text)?.[1] ?? ''
}

/** Without an exponent and without the noise of floats. */
function plainNumber(value: number): string {
  return Number(value.toPrecision(12)).toLocaleString('en', { useGrouping: false, maximumFractionDigits: 9 })
}
