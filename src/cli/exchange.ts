import { request } from 'node:http'

/** One request as text. */
export type Message = {
  readonly method: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/**
 * Sends one request to a server of this machine and reads its whole answer. Rejects when it does not come in time. `fetch`
 * would go through the proxy that HTTP_PROXY names, and show it the admin key.
 */
export function exchange(
  url: URL,
  { method, headers = {}, body = '' }: Message,
  timeoutMs: number,
): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>()
  const signal = AbortSignal.timeout(timeoutMs)
  const length = { 'content-length': String(Buffer.byteLength(body)) }
  const sent = request(
    url,
    { method, headers: { ...headers, ...(body === '' ? {} : length) }, agent: false, signal },
    answer => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.on('error', reject)
      answer.on('end', () => resolve(new Response(Buffer.concat(chunks), { status: answer.statusCode ?? 0 })))
    },
  )
  sent.on('error', reject)
  sent.end(body)
  return promise
}
