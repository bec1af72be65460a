import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { request } from 'node:http'

/** Has the address of the running server. Absent if no server runs on the data folder. */
const SERVER_FILE = 'server.json'
const ADMIN_KEY_FILE = 'admin.key'

export type RunningServer = { readonly url: string; readonly pid: number }

/** Reads the file of the last server, which may have died without removing it. */
export function readServerFile(dataDir: string): RunningServer | undefined {
  const text = readIfThere(join(dataDir, SERVER_FILE))
  if (text === undefined) return undefined
  try {
    const { url, pid } = JSON.parse(text) as Partial<RunningServer>
    return typeof url === 'string' && URL.canParse(url) && typeof pid === 'number' ? { url, pid } : undefined
  } catch {
    return undefined
  }
}

/** The admin key that the first start created. Undefined if the operator set one. */
export function readAdminKey(dataDir: string): string | undefined {
  return readIfThere(join(dataDir, ADMIN_KEY_FILE))?.trim()
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

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
