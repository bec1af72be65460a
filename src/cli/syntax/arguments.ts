import { InvalidArgumentError, type Command } from 'commander'
import { parseUsd } from '../../domain/money.ts'
import { isDay } from '../bills/bill.ts'

/** Validated before anything is sent, so that `accounts create --grant` never creates an account without its grant. */
export function amount(text: string): string {
  const parsed = parseUsd(text)
  if (parsed === undefined || parsed <= 0n) {
    throw new InvalidArgumentError(
      'Write an amount in dollars above zero with at most nine decimals, such as 12.5.',
    )
  }
  return text
}

/** What the admin API takes as `Idempotency-Key`. Other texts cannot be sent in a header. */
export function idempotencyKey(text: string): string {
  if (/^[\u0021-\u007e]{1,255}$/.test(text)) return text
  throw new InvalidArgumentError('Write 1 to 255 visible ASCII characters without spaces.')
}

/** The number of a revision of the catalog. */
export function revisionNumber(text: string): string {
  if (/^[1-9]\d{0,8}$/.test(text)) return text
  throw new InvalidArgumentError('Write the number of a revision.')
}

/** A day in UTC. */
export function utcDay(text: string): string {
  if (isDay(text)) return text
  throw new InvalidArgumentError('Write a day in UTC such as 2026-11-01.')
}

/** A time in RFC 3339, as the admin API reads it. A day is its first moment in UTC. */
export function timeOrDay(text: string): string {
  if (isDay(text)) return `${text}T00:00:00Z`
  if (/^\d{4}-\d\d-\d\dT\S+$/i.test(text) && !Number.isNaN(Date.parse(text))) return text
  throw new InvalidArgumentError(
    'Write a day in UTC such as 2026-11-01, or a time such as 2026-11-01T12:00:00Z.',
  )
}

const MS_PER_DAY = 86_400_000
const EXPIRY_DAYS = /^([1-9]\d{0,4})d$/

/** When something expires: a day or a time as for `timeOrDay`, or a number of days from now, such as 90d. */
export function expiry(text: string): (nowMs: number) => string {
  const days = EXPIRY_DAYS.exec(text)?.[1]
  if (days !== undefined) return nowMs => new Date(nowMs + Number(days) * MS_PER_DAY).toISOString()
  try {
    const time = timeOrDay(text)
    return () => time
  } catch {
    throw new InvalidArgumentError(
      'Write a day in UTC such as 2027-01-31, a time such as 2027-01-31T12:00:00Z, or a number of days such as 90d.',
    )
  }
}

const TIME_LIMIT_S_MAX = 86_400

/** A time limit in seconds, as milliseconds. */
export function timeLimit(text: string): number {
  const seconds = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (seconds >= 1 && seconds <= TIME_LIMIT_S_MAX) return seconds * 1000
  throw new InvalidArgumentError(`Write a whole number of seconds from 1 to ${TIME_LIMIT_S_MAX}.`)
}

const SECONDS_OF = { s: 1, m: 60, h: 3600, d: 86_400 } as const

/** A length of time such as 30m, 24h or 7d, in seconds. Undefined for any other text. */
export function secondsOf(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,7})([smhd])$/.exec(text) ?? []
  return count === undefined ? undefined : Number(count) * SECONDS_OF[unit as keyof typeof SECONDS_OF]
}

/** Like `secondsOf`. */
export function secondsIn(text: string): number {
  const seconds = secondsOf(text)
  if (seconds !== undefined) return seconds
  throw new InvalidArgumentError('Write a time such as 0s, 30m, 24h or 7d.')
}

/** Adds the options of a list that is printed a page at a time. */
export function withPages(command: Command): Command {
  return command
    .option('--limit <count>', `the number of rows, up to ${ROWS_MAX}`, rowCount, '50')
    .option('--cursor <cursor>', 'continue after the previous page')
}

const ROWS_MAX = 500

function rowCount(text: string): string {
  const count = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (count >= 1 && count <= ROWS_MAX) return text
  throw new InvalidArgumentError(`Write a whole number from 1 to ${ROWS_MAX}.`)
}
