import { answer, head, json } from '../../src/http1/testing/upstream-replies.ts'
import type { Exchange, Reply } from './upstream.ts'
import { turn } from './turn.ts'

export { answer, head, json }

const encoder = new TextEncoder()

export type ChatAnswer = {
  readonly content?: string
  readonly usage?: Readonly<Record<string, unknown>> | null
  readonly headers?: Readonly<Record<string, string>>
}

/** A chat completion, by default with 10 input and 5 output tokens. A usage of null leaves the usage out. */
export function chatAnswer({
  content = 'Hello.',
  usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  headers = {},
}: ChatAnswer = {}): Reply {
  const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }]
  const common = { id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'upstream-model', choices }
  return json(usage === null ? common : { ...common, usage }, { headers })
}

/** An HTML page with status 200 from a proxy in front of the provider. */
export function html(): Reply {
  return answer('<html><body>Welcome to nginx</body></html>', { headers: { 'content-type': 'text/html' } })
}

export function redirect(location: string): Reply {
  return answer('', { status: 302, headers: { location } })
}

/** A JSON answer in gzip that was not requested. */
export function gzip(value: unknown): Reply {
  return answer(Bun.gzipSync(encoder.encode(JSON.stringify(value))), {
    headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
  })
}

/** Reads the request and resets the connection before the answer. */
export function resetBeforeHeaders(): Reply {
  return exchange => exchange.reset()
}

/** Closes the connection normally before the answer. */
export function closeBeforeHeaders(): Reply {
  return exchange => exchange.end()
}

/** Resets the connection after the headers and a few bytes of the body. */
export function resetAfterHeaders(): Reply {
  return async exchange => {
    await exchange.write(head(200, { ...JSON_TYPE, 'content-length': '1000' }))
    await exchange.write('{"id":"chat')
    // The client reads the bytes in this turn.
    await turn()
    exchange.reset()
  }
}

/** Announces more bytes than it sends, and closes the connection. */
export function shortBody(
  body: string,
  headers: Readonly<Record<string, string>> = JSON_TYPE,
  status = 200,
): Reply {
  return async exchange => {
    await exchange.write(head(status, { ...headers, 'content-length': String(Buffer.byteLength(body) + 10) }))
    await exchange.write(body)
    exchange.end()
  }
}

/** A body that ends with the connection, so that nothing shows whether it is complete. */
export function closeDelimited(body: string, headers: Readonly<Record<string, string>> = JSON_TYPE): Reply {
  return async exchange => {
    await exchange.write(head(200, { ...headers, connection: 'close' }))
    await exchange.write(body)
    exchange.end()
  }
}

/** A chunked body whose second chunk has an invalid length. */
export function badChunk(headers = JSON_TYPE): Reply {
  return async exchange => {
    await exchange.write(head(200, { ...headers, 'transfer-encoding': 'chunked' }))
    await exchange.write('5\r\n{"id"\r\nnot a length\r\n')
  }
}

/** A chunked body that ends before its last chunk. */
export function cutChunked(parts: readonly (string | Uint8Array)[], headers = JSON_TYPE): Reply {
  return async exchange => {
    await writeChunks(exchange, parts, headers)
    exchange.end()
  }
}

/** A complete chunked body. Each part is sent separately, so it usually arrives separately. */
export function chunked(parts: readonly (string | Uint8Array)[], headers = JSON_TYPE): Reply {
  return async exchange => {
    await writeChunks(exchange, parts, headers)
    await exchange.write('0\r\n\r\n')
  }
}

/** Server-sent events in any parts. */
export function sse(parts: readonly (string | Uint8Array)[]): Reply {
  return chunked(parts, EVENT_STREAM)
}

/** Reads the request and sends nothing until the client disconnects. */
export function silence(): Reply {
  return exchange => exchange.closed
}

export const JSON_TYPE: Readonly<Record<string, string>> = { 'content-type': 'application/json' }
export const EVENT_STREAM: Readonly<Record<string, string>> = { 'content-type': 'text/event-stream' }

/** One chunk of a chunked body, for tests that write the chunks themselves. */
export function chunk(part: string | Uint8Array): Uint8Array {
  const bytes = typeof part === 'string' ? encoder.encode(part) : part
  return Buffer.concat([encoder.encode(`${bytes.length.toString(16)}\r\n`), bytes, encoder.encode('\r\n')])
}

async function writeChunks(
  exchange: Exchange,
  parts: readonly (string | Uint8Array)[],
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  await exchange.write(head(200, { ...headers, 'transfer-encoding': 'chunked' }))
  for (const part of parts) {
    await exchange.write(chunk(part))
    // The client reads the bytes in this turn.
    await turn()
  }
}
