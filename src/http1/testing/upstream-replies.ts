import type { Reply } from './upstream.ts'

type Head = { readonly status?: number; readonly headers?: Readonly<Record<string, string>> }

/** A complete answer with a content-length. */
export function answer(body: string | Uint8Array, { status = 200, headers = {} }: Head = {}): Reply {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  return async exchange => {
    await exchange.write(head(status, { ...headers, 'content-length': String(bytes.length) }))
    await exchange.write(bytes)
  }
}

/** A complete JSON answer. */
export function json(value: unknown, { status, headers }: Head = {}): Reply {
  return answer(JSON.stringify(value), {
    ...(status === undefined ? {} : { status }),
    headers: { 'content-type': 'application/json', ...headers },
  })
}

/** The status line and headers, for tests that write the body themselves. */
export function head(status: number, headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} Scripted\r\n${lines.join('')}\r\n`
}
