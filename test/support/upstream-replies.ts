import type { Exchange, Reply } from './upstream.ts'

type Head = { readonly status?: number; readonly headers?: Readonly<Record<string, string>> }

const encoder = new TextEncoder()

/** A whole answer, framed by its length. */
export function answer(body: string | Uint8Array, { status = 200, headers = {} }: Head = {}): Reply {
  const bytes = bytesOf(body)
  return async exchange => {
    await exchange.write(head(status, { ...headers, 'content-length': String(bytes.length) }))
    await exchange.write(bytes)
  }
}

/** A whole JSON answer. */
export function json(value: unknown, { status, headers }: Head = {}): Reply {
  return answer(JSON.stringify(value), {
    ...(status === undefined ? {} : { status }),
    headers: { 'content-type': 'application/json', ...headers },
  })
}

export type ChatAnswer = {
  readonly content?: string
  readonly usage?: Readonly<Record<string, unknown>> | null
  readonly headers?: Readonly<Record<string, string>>
}

/** A chat completion with ten tokens in and five out, if not told otherwise; a usage of null leaves it out. */
export function chatAnswer({
  content = 'Hello.',
  usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  headers = {},
}: ChatAnswer = {}): Reply {
  const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }]
  const common = { id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'upstream-model', choices }
  return json(usage === null ? common : { ...common, usage }, { headers })
}

/** A page that some proxy in front of the provider wrote, with a 200. */
export function html(): Reply {
  return answer('<html><body>Welcome to nginx</body></html>', { headers: { 'content-type': 'text/html' } })
}

export function redirect(location: string): Reply {
  return answer('', { status: 302, headers: { location } })
}

/** A JSON answer in gzip, though nobody asked for it. */
export function gzip(value: unknown): Reply {
  return answer(Bun.gzipSync(encoder.encode(JSON.stringify(value))), {
    headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
  })
}

/** Takes the request and breaks the connection before a byte of an answer. */
export function resetBeforeHeaders(): Reply {
  return exchange => exchange.reset()
}

/** Closes the connection, as if in peace, before a byte of an answer. */
export function closeBeforeHeaders(): Reply {
  return exchange => exchange.end()
}

/** Breaks the connection after the headers and a few bytes of a longer body. */
export function resetAfterHeaders(): Reply {
  return async exchange => {
    await exchange.write(head(200, { ...JSON_TYPE, 'content-length': '1000' }))
    await exchange.write('{"id":"chat')
    await settled()
    exchange.reset()
  }
}

/** Promises more bytes than it sends, then closes. */
export function shortBody(body: string, headers = JSON_TYPE): Reply {
  return async exchange => {
    await exchange.write(head(200, { ...headers, 'content-length': String(bytesOf(body).length + 10) }))
    await exchange.write(body)
    exchange.end()
  }
}

/** A body whose end is the end of the connection: nothing says whether it is whole. */
export function closeDelimited(body: string, headers: Readonly<Record<string, string>> = JSON_TYPE): Reply {
  return async exchange => {
    await exchange.write(head(200, { ...headers, connection: 'close' }))
    await exchange.write(body)
    exchange.end()
  }
}

/** A chunked body whose second chunk has no readable length. */
export function badChunk(headers = JSON_TYPE): Reply {
  return async exchange => {
    await exchange.write(head(200, { ...headers, 'transfer-encoding': 'chunked' }))
    await exchange.write('5\r\n{"id"\r\nnot a length\r\n')
  }
}

/** A chunked body, of any content type, that closes before its last chunk. */
export function cutChunked(parts: readonly (string | Uint8Array)[], headers = JSON_TYPE): Reply {
  return async exchange => {
    await writeChunks(exchange, parts, headers)
    exchange.end()
  }
}

/** A whole chunked body; each part is sent on its own, so that it mostly arrives on its own. */
export function chunked(parts: readonly (string | Uint8Array)[], headers = JSON_TYPE): Reply {
  return async exchange => {
    await writeChunks(exchange, parts, headers)
    await exchange.write('0\r\n\r\n')
  }
}

/** Server-sent events, cut into parts wherever the test likes. */
export function sse(parts: readonly (string | Uint8Array)[]): Reply {
  return chunked(parts, EVENT_STREAM)
}

/** Takes the request and says nothing until the client gives up. */
export function silence(): Reply {
  return exchange => exchange.closed
}

export const JSON_TYPE: Readonly<Record<string, string>> = { 'content-type': 'application/json' }
export const EVENT_STREAM: Readonly<Record<string, string>> = { 'content-type': 'text/event-stream' }

/** The status line and headers, for tests that write the rest of an answer themselves. */
export function head(status: number, headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} Scripted\r\n${lines.join('')}\r\n`
}

/** One chunk of a chunked body, for tests that write the parts themselves. */
export function chunk(part: string | Uint8Array): Uint8Array {
  const bytes = bytesOf(part)
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
    await settled()
  }
}

/** A turn of the event loop, in which the client reads what was written. */
function settled(): Promise<void> {
  return new Promise(resolve => {
    setImmediate(resolve)
  })
}

function bytesOf(body: string | Uint8Array): Uint8Array {
  return typeof body === 'string' ? encoder.encode(body) : body
}
