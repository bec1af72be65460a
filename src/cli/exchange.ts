import { request } from 'node:http'

/** One HTTP request. */
export type Message = {
  readonly method: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/**
 * Sends one request to a server on this machine and reads the whole response. Rejects after `timeoutMs`. It does not
 * use `fetch`, which would send the admin key through the proxy that HTTP_PROXY names.
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
