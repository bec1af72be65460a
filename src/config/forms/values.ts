import { parseUsd, type NanoUsd } from '../../domain/money.ts'
import type { Form } from './form.ts'

const MS_PER_S = 1000
const MS_PER_DAY = 86_400_000
const BYTES_PER_MB = 1_048_576
const WHOLE = /^\d{1,9}$/
const DECIMAL = /^\d{1,9}(?:\.\d{1,3})?$/
/** A second is about 0.00001 days. */
const DAYS = /^\d{1,9}(?:\.\d{1,6})?$/

type Range = { readonly min: number; readonly max: number }

export function wholeNumber({ min, max }: Range): Form<number> {
  return {
    expected: `a whole number from ${min} to ${max}`,
    parse: text => (WHOLE.test(text) ? within(Number(text), { min, max }) : undefined),
  }
}

/** Seconds with up to three decimals, as milliseconds. */
export function seconds({ min, max }: Range): Form<number> {
  return {
    expected: `a number of seconds from ${min} to ${max}`,
    parse: text => scaled(text, MS_PER_S, { min, max }),
  }
}

/** Days with up to six decimals, as milliseconds. */
export function days({ min, max }: Range): Form<number> {
  return {
    expected: `a number of days from ${min} to ${max}`,
    parse: text => scaled(text, MS_PER_DAY, { min, max }, DAYS),
  }
}

/** Megabytes of 1,048,576 bytes with up to three decimals, as bytes. */
export function megabytes({ min, max }: Range): Form<number> {
  return {
    expected: `a number of megabytes from ${min} to ${max}`,
    parse: text => scaled(text, BYTES_PER_MB, { min, max }),
  }
}

export function oneOf<const Word extends string>(words: readonly Word[]): Form<Word> {
  return {
    expected: `one of ${words.join(', ')}`,
    parse: text => words.find(word => word === text),
  }
}

/** Dollars with up to nine decimals. */
export const dollars: Form<NanoUsd> = {
  expected: 'an amount in dollars such as 1000 or 12.5',
  parse: text => parseUsd(text),
}

/** Also accepts true/false, yes/no and 1/0. */
export const onOff: Form<boolean> = {
  expected: 'on or off',
  parse: text => switchOf(text),
}

/** Undefined for a text that is neither `on` nor `off`. */
export function switchOf(text: string): boolean | undefined {
  const word = text.toLowerCase()
  if (['on', 'true', 'yes', '1'].includes(word)) return true
  return ['off', 'false', 'no', '0'].includes(word) ? false : undefined
}

export const filePath: Form<string> = {
  expected: 'a path',
  parse: text => (text.includes('\0') ? undefined : text),
}

function scaled(text: string, unit: number, range: Range, form = DECIMAL): number | undefined {
  const amount = form.test(text) ? within(Number(text), range) : undefined
  return amount === undefined ? undefined : Math.round(amount * unit)
}

/** Undefined outside the range. */
export function within(value: number, { min, max }: Range): number | undefined {
  return value >= min && value <= max ? value : undefined
}
