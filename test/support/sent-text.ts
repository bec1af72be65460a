import type { SentText } from '../../src/protocol/json/parse-json.ts'

/** The body that the server reads when a client sends this text. */
export function sentText(text: string): SentText {
  return { text, byteLength: Buffer.byteLength(text) }
}
