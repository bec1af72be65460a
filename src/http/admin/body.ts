import { rowsRefusal, type Checked } from '../../domain/catalog/rows/problem.ts'
import { GatewayError } from '../../domain/errors.ts'
import type { BodyLimits } from '../../http1/server/request-body.ts'
import { BODY_TIMES } from '../incoming-request.ts'
import type { AdminRequest } from './call.ts'

/** Enough for a catalog of ten thousand rows. */
const BODY_BYTES_MAX = 8 << 20
const LIMITS: BodyLimits = { ...BODY_TIMES, bytesMax: BODY_BYTES_MAX, totalMs: 120_000 }

/** Only what JSON counts as space, so that a body of other control characters does not count as empty. */
const SPACE = /^[ \t\r\n]*$/
const BYTE_ORDER_MARK = '\uFEFF'

/** The body as text, with limits on size and time. Throws `invalid_json` if it is not UTF-8. */
export async function readBodyText(request: AdminRequest): Promise<string> {
  const { text } = await request.text(LIMITS)
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(BYTE_ORDER_MARK.length) : text
}

/** The body as JSON. Throws `invalid_json`. */
export async function readJson(request: AdminRequest): Promise<unknown> {
  return parsed(await readBodyText(request))
}

/** The members of a body. Their names are known, and their values are not validated. */
export type Fields = Readonly<Record<string, unknown>>

/**
 * The members of a JSON object; none for an empty body. Throws for a member that is not `known`, instead of ignoring
 * it. `elsewhere` says for some members where they belong; each text follows the name.
 */
export async function readFields(
  request: AdminRequest,
  known: readonly string[],
  elsewhere: Readonly<Record<string, string>> = {},
): Promise<Fields> {
  const text = await readBodyText(request)
  if (SPACE.test(text)) return {}
  const body = parsed(text)
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new GatewayError('invalid_json', `The body must be a JSON object with ${quoted(known)}.`)
  }
  const stray = Object.keys(body).find(name => !known.includes(name))
  if (stray !== undefined) {
    // The name can be that of a member that every object has.
    const place = Object.hasOwn(elsewhere, stray) ? elsewhere[stray] : undefined
    throw wrongField(stray, place ?? `is not a field of this request; the fields are ${quoted(known)}`)
  }
  return body as Fields
}

/** A required member. `expected` completes “must be …”. */
export function textField(fields: Fields, name: string, expected: string): string {
  const text = optionalTextField(fields, name, expected)
  if (text === undefined) throw wrongField(name, `is missing; it must be ${expected}`)
  return text
}

/** Like `textField`, for a member that may be absent or null. */
export function optionalTextField(fields: Fields, name: string, expected: string): string | undefined {
  const value = fields[name] ?? undefined
  if (value !== undefined && typeof value !== 'string') throw wrongField(name, `must be ${expected}`)
  return value
}

/** A required member that is true or false. */
export function flagField(fields: Fields, name: string): boolean {
  const value = fields[name]
  if (typeof value !== 'boolean') throw wrongField(name, 'must be true or false')
  return value
}

/** Throws `invalid_field` for a body without members. */
export function refuseEmpty(fields: Fields, known: readonly string[]): void {
  if (Object.keys(fields).length > 0) return
  throw new GatewayError('invalid_field', `The body changes nothing. Its fields are ${known.join(', ')}.`)
}

/** The checked value. Throws `invalid_field` for a wrong one, with its problems. */
export function valueOf<Value>(decoded: Checked<Value>): Value {
  if (!decoded.ok) throw rowsRefusal(decoded.problems)
  return decoded.value
}

/** An error that names the field. `problem` follows the name. */
export function wrongField(name: string, problem: string): GatewayError {
  return new GatewayError('invalid_field', `"${name}" ${problem}.`, { param: name })
}

function quoted(names: readonly string[]): string {
  return names.map(name => `"${name}"`).join(', ')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new GatewayError('invalid_json', 'Invalid JSON. The body must be a JSON object.')
  }
}
