import { parseExactUsd, type ExactUsd } from '../../domain/pricing/exact-usd.ts'

/** A line of a bill. */
export type BillLine = {
  /** A day in UTC, such as `2026-11-01`. */
  readonly day: string
  /** The names that the bill has for the model, the preferred one first. Empty if it names no model. */
  readonly models: readonly string[]
  /** The item of the line, in the words of the bill. */
  readonly item: string
  /** In dollars. Null in a file that only counts. */
  readonly amount: ExactUsd | null
  /** Null if the bill does not count them. */
  readonly requests: number | null
  readonly inputTokens: number | null
  readonly outputTokens: number | null
}

/** A file of a provider, as it is read line by line. */
export type Bill = {
  readonly lines: Iterable<BillLine>
  /** The days that the file covers even if they have no line. Empty if it does not say. */
  readonly days: readonly string[]
  /** Sentences for the operator about the file. */
  readonly notes: readonly string[]
}

/** A file that is not a bill, or a value in it that cannot be read. The message completes "The file … ". */
export class BillProblem extends Error {
  override readonly name = 'BillProblem'
}

export function problemAt(line: number, message: string): BillProblem {
  return new BillProblem(`has a mistake in line ${line}: ${message}`)
}

/** A value of a file with its line. */
export type Written = { readonly text: string; readonly line: number }

/**
 * Reads an amount. `unitDecimals` is the position of its unit: 0 for dollars, 2 for cents. Throws a `BillProblem` for
 * text that is not a decimal number.
 */
export function readAmount(name: string, { text, line }: Written, unitDecimals = 0): ExactUsd {
  const amount = parseExactUsd(text, unitDecimals)
  if (amount === undefined)
    throw problemAt(line, `"${name}" is "${text}", but must be a decimal number such as 0.25.`)
  return amount
}

/** Reads a number of requests or tokens. Null for an empty text. */
export function readCount(name: string, { text, line }: Written): number | null {
  if (text === '') return null
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw problemAt(line, `"${name}" is "${text}", but must be a whole number.`)
}

/** Reads the day of a date, or of a time in UTC. */
export function readDay(name: string, { text, line }: Written): string {
  const [day] = /^\d{4}-\d{2}-\d{2}(?=$|[T ])/.exec(text) ?? []
  if (day !== undefined && isDay(day)) return day
  throw problemAt(line, `"${name}" is "${text}", but must begin with a date such as 2026-11-01.`)
}

/** Whether this is a date that exists. */
export function isDay(text: string): boolean {
  const atMs = Date.parse(`${text}T00:00:00Z`)
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && atMs >= 0 && dayOfMs(atMs) === text
}

export function dayOfMs(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10)
}
