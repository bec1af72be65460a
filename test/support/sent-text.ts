import type { SentText } from '../../src/protocol/json/parse-json.ts'

/** A body as the server hands it on when a client has sent this text. */
export function sentText(text: string): SentText {
  return { text, byteLength: Buffer.byteLength(text) }
}
