import { GatewayError } from '../../domain/errors.ts'
import { utf8Text } from '../wire/utf8-text.ts'
import type { SentText } from '../../protocol/json/parse-json.ts'

/** A body where it stands: in `bytes` from `start` up to, not including, `end`. */
export type WholeBody = { readonly bytes: Buffer; readonly start: number; readonly end: number }

export const NO_BODY: WholeBody = { bytes: Buffer.alloc(0), start: 0, end: 0 }

/** Its text. Throws `invalid_json` where it is none. */
export function textOf({ bytes, start, end }: WholeBody): SentText {
  const text = utf8Text(bytes, start, end)
  if (text === undefined) throw new GatewayError('invalid_json', 'The request body is not UTF-8 text.')
  return { text, byteLength: end - start }
}
