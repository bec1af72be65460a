import { parseUsd, type NanoUsd } from '../../domain/money.ts'
import { optionalTextField, textField, wrongField, type Fields } from './body.ts'
import type { AdminRequest } from './call.ts'

/** The longest text that an operator gives with a movement of money or a decision. */
export const NOTE_LENGTH_MAX = 500
const IDEMPOTENCY_KEY = /^[\u0021-\u007e]{1,255}$/
const AMOUNT = 'a decimal string of dollars such as "12.5", with at most nine decimals'

/** The required member `amount_usd`. */
export function amountField(fields: Fields): NanoUsd {
  return usdFrom('amount_usd', textField(fields, 'amount_usd', AMOUNT))
}

/** The member `amount_usd`, which may be absent. */
export function optionalAmountField(fields: Fields): NanoUsd | undefined {
  return optionalUsdField(fields, 'amount_usd')
}

/** An amount of dollars, which may be absent. */
export function optionalUsdField(fields: Fields, name: string): NanoUsd | undefined {
  const text = optionalTextField(fields, name, AMOUNT)
  return text === undefined ? undefined : usdFrom(name, text)
}

/** The member `note`, which may be absent. */
export function noteField(fields: Fields): string | undefined {
  const note = optionalTextField(fields, 'note', 'text')
  if (note !== undefined && note.length > NOTE_LENGTH_MAX)
    throw wrongField('note', `must be at most ${NOTE_LENGTH_MAX} characters`)
  return note
}

/** The header `Idempotency-Key`, which may be absent. */
export function idempotencyKeyOf(request: AdminRequest): string | undefined {
  const key = request.header('idempotency-key')
  if (key === null) return undefined
  if (!IDEMPOTENCY_KEY.test(key))
    throw wrongField('Idempotency-Key', 'must be 1 to 255 visible ASCII characters without spaces')
  return key
}

function usdFrom(name: string, text: string): NanoUsd {
  const amount = parseUsd(text)
  if (amount === undefined) throw wrongField(name, `must be ${AMOUNT}`)
  return amount
}
