import { createHash, createHmac } from 'node:crypto'

/** The keys of an account at the storage, and the region that its signatures name. */
export type Credentials = {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly region: string
}

/** A request before it is signed. */
export type UnsignedRequest = {
  readonly method: string
  /** As it is sent: its query is what `queryOf` makes. */
  readonly url: URL
  /** Names in lower case. All of them are signed. */
  readonly headers: Readonly<Record<string, string>>
  /** The SHA-256 of the body, in hexadecimal. The storage refuses a body that has another one. */
  readonly bodySha256: string
}

const ALGORITHM = 'AWS4-HMAC-SHA256'
const SERVICE = 's3'

/**
 * The headers of a request with its signature (AWS Signature Version 4). `atMs` is the time of the wall clock: a
 * storage refuses requests that are more than 15 minutes old, or as far in the future.
 */
export function signedHeaders(
  { method, url, headers, bodySha256 }: UnsignedRequest,
  { accessKeyId, secretAccessKey, region }: Credentials,
  atMs: number,
): Record<string, string> {
  // 2026-11-23T13:29:00.000Z is 20261123T132900Z here.
  const time = new Date(atMs).toISOString().replace(/[-:]|\.\d+/g, '')
  const day = time.slice(0, 8)
  const sent = { ...headers, 'x-amz-content-sha256': bodySha256, 'x-amz-date': time }
  const signed = Object.entries({ ...sent, host: url.host }).sort(([a], [b]) => (a < b ? -1 : 1))
  const names = signed.map(([name]) => name).join(';')
  const canonical = [
    method,
    url.pathname,
    url.search.slice(1),
    ...signed.map(([name, value]) => `${name}:${value.trim()}`),
    '',
    names,
    bodySha256,
  ].join('\n')
  const scope = `${day}/${region}/${SERVICE}/aws4_request`
  const text = [ALGORITHM, time, scope, sha256Of(canonical)].join('\n')
  const key = [day, region, SERVICE, 'aws4_request'].reduce<string | Buffer>(
    (secret, part) => hmac(secret, part),
    `AWS4${secretAccessKey}`,
  )
  const signature = hmac(key, text).toString('hex')
  const authorization = `${ALGORITHM} Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`
  return { ...sent, authorization }
}

/** A query in the form that signatures require: sorted by names, with every name and value encoded. */
export function queryOf(parameters: Readonly<Record<string, string>>): string {
  return Object.entries(parameters)
    .map(([name, value]) => [encoded(name), encoded(value)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(pair => pair.join('='))
    .join('&')
}

/** A path in the form that signatures require: each segment is encoded once. */
export function pathOf(path: string): string {
  return path.split('/').map(encoded).join('/')
}

/** `encodeURIComponent` leaves five characters as they are that a signature has encoded. */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    character => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

export function sha256Of(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
