/** How values are shown. Money stays decimal text from the gateway to the screen: a float could change it. */
import { isDay } from '../api/days.ts'

const numbers = new Intl.NumberFormat('en')
const days = new Intl.DateTimeFormat('en', { dateStyle: 'medium' })
const date = { year: 'numeric', month: 'short', day: 'numeric' } as const
const minutes = { hour: 'numeric', minute: '2-digit' } as const
const instants = new Intl.DateTimeFormat('en', { ...date, ...minutes, timeZoneName: 'short' })
const clock = { ...minutes, second: '2-digit' } as const
const exactInstants = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric', ...clock })
const olderInstants = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' })
const shortDays = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric', timeZone: 'UTC' })
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/

/** `$1,234.50`: at least two decimals, and all that the amount has. */
export function money(amount: string | null | undefined): string {
  if (amount === null || amount === undefined) return '–'
  const [, sign, whole = '', fraction = ''] = DECIMAL.exec(amount) ?? []
  if (sign === undefined) return amount
  const decimals = fraction.replace(/0+$/, '').padEnd(2, '0')
  return `${sign === '' ? '' : '−'}$${numbers.format(BigInt(whole))}.${decimals}`
}

const NANO_DIGITS = 9
const CENT_NANOS = 10_000_000n

/** `$1,234.57`: to the cent, for lists of large amounts. Rounded half away from zero; less than a cent stays whole. */
export function moneyToCents(amount: string | null | undefined): string {
  if (amount === null || amount === undefined) return '–'
  const nanos = nanosOf(amount)
  const size = nanos < 0n ? -nanos : nanos
  if (size < CENT_NANOS) return money(amount)
  const cents = (size + CENT_NANOS / 2n) / CENT_NANOS
  const text = `${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`
  return money(nanos < 0n ? `-${text}` : text)
}

/** Billionths of a dollar, to compare and add amounts exactly. Zero for text that is no amount. */
export function nanosOf(amount: string): bigint {
  const [, sign, whole = '0', fraction = ''] = DECIMAL.exec(amount) ?? []
  const size = BigInt(whole + fraction.padEnd(NANO_DIGITS, '0').slice(0, NANO_DIGITS))
  return sign === '-' ? -size : size
}

/** The decimal text of billionths of a dollar. */
export function amountOf(nanos: bigint): string {
  const size = String(nanos < 0n ? -nanos : nanos).padStart(NANO_DIGITS + 1, '0')
  const fraction = size.slice(-NANO_DIGITS).replace(/0+$/, '')
  return `${nanos < 0n ? '-' : ''}${size.slice(0, -NANO_DIGITS)}${fraction === '' ? '' : `.${fraction}`}`
}

/** Only for the height of bars and lines, where a pixel is coarser than any rounding. */
export function plotted(amount: string): number {
  return Number(amount)
}

export function count(value: number | bigint): string {
  return numbers.format(value)
}

/** `12.3 %` of a part in thousandths, or of a fraction of 1. */
export function percent(fraction: number | null): string {
  return fraction === null ? '–' : `${numbers.format(Math.round(fraction * 1000) / 10)} %`
}

/** The date and time in the time zone of the browser, which it names. */
export function instant(iso: string | null | undefined): string {
  return iso === null || iso === undefined ? '–' : instants.format(new Date(iso))
}

/**
 * Like `instant`, with seconds, and without the current year and the zone: for lists of what happens often. The heading
 * of their column names the zone.
 */
export function exactInstant(iso: string | null | undefined): string {
  if (iso === null || iso === undefined) return '–'
  const at = new Date(iso)
  return (at.getFullYear() === new Date().getFullYear() ? exactInstants : olderInstants).format(at)
}

/** The heading of a column of times, with the time zone of the browser: `Time (UTC)`. */
export function zoned(label: string): string {
  const zone = instants.formatToParts().find(({ type }) => type === 'timeZoneName')?.value
  return zone === undefined ? label : `${label} (${zone})`
}

/** The label of days that a report counts in UTC, in the same form. */
export function inUtc(label: string): string {
  return `${label} (UTC)`
}

/**
 * `Nov 23` and `Nov 23, 14:00`: a day such as `2026-11-23`, or an hour such as `2026-11-23 14:00`, where there is little
 * room. Any other text stays.
 */
export function shortTime(text: string): string {
  const [, day, hour = ''] = /^(\d{4}-\d\d-\d\d)(?: (\d\d:\d\d))?$/.exec(text) ?? []
  if (!isDay(day)) return text
  return `${shortDays.format(new Date(`${day}T12:00:00Z`))}${hour === '' ? '' : `, ${hour}`}`
}

/** The date in the time zone of the browser; for a day such as `2026-11-23`, that day. */
export function day(iso: string): string {
  return iso.length === 'yyyy-mm-dd'.length
    ? days.format(new Date(`${iso}T12:00:00`))
    : days.format(new Date(iso))
}

const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

/** `3 hours ago`. The exact instant belongs into a `title`. */
export function ago(iso: string | null | undefined, nowMs = Date.now()): string {
  if (iso === null || iso === undefined) return '–'
  const passedMs = new Date(iso).getTime() - nowMs
  const [unit, ms] = units.find(([, ms]) => Math.abs(passedMs) >= ms) ?? ['second', 1000]
  return relative.format(Math.round(passedMs / ms), unit)
}

export function milliseconds(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return '–'
  if (ms < 1000) return `${Math.round(ms)} ms`
  return ms < 60_000 ? `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s` : `${(ms / 60_000).toFixed(1)} min`
}

const sizes = ['bytes', 'KB', 'MB', 'GB', 'TB'] as const

/** Sizes by 1,024, as the settings count them. */
export function bytes(size: number | null | undefined): string {
  if (size === null || size === undefined) return '–'
  let left = size
  let index = 0
  while (left >= 1024 && index < sizes.length - 1) {
    left /= 1024
    index += 1
  }
  return `${index === 0 ? left : left.toFixed(left < 10 ? 1 : 0)} ${sizes[index]}`
}
