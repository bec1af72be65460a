import { createHash, createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from './free-port.ts'

/** A request as the server saw it. */
export type S3Request = {
  readonly method: string
  /** Without the bucket; empty for the bucket itself. */
  readonly key: string
  readonly query: URLSearchParams
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Buffer
  readonly isAnonymous: boolean
}

/**
 * How a request fails: an error of the storage, a late answer, no answer at all, an answer whose body is cut in half or
 * changed, an error after the status 200 (nothing is done), or a connection that closes when all is done.
 */
export type S3Fault =
  | { readonly status: number; readonly code: string }
  | { readonly afterMs: number }
  | 'hang'
  | 'cut'
  | 'corrupt'
  | 'late error'
  | 'lost answer'

export type S3Server = {
  readonly endpoint: string
  readonly settings: {
    readonly bucket: string
    readonly region: string
    readonly endpoint: string
    readonly accessKeyId: string
    readonly secretAccessKey: string
    readonly isPathStyle: boolean
    readonly prefix: string | undefined
  }
  /** The same as variables of a gateway. */
  readonly environment: Record<string, string>
  /** The objects by their names. A test can change their bytes. */
  readonly objects: Map<string, S3Object>
  /** The running uploads by their ids. */
  readonly uploads: Map<string, S3Upload>
  readonly requests: readonly S3Request[]
  /** Decides whether a request fails. Called for each request; undefined answers it. */
  fault: (request: S3Request) => S3Fault | undefined
  isPublic: boolean
  /** Breaks all connections and refuses new ones, until `start`. */
  stop(): Promise<void>
  start(): Promise<void>
}

type S3Object = { bytes: Buffer; readonly etag: string; readonly modifiedMs: number }
type S3Upload = { readonly key: string; readonly parts: Map<number, S3Object>; initiatedMs: number }

const ACCESS_KEY = 'AKIATESTTESTTESTTEST'
const SECRET = 'secret/of+the/tests'
const BUCKET = 'results'
const REGION = 'eu-test-1'
const SKEW_MS_MAX = 15 * 60_000
const PART_BYTES_MIN = 5 * 1024 * 1024
const KEYS_A_PAGE = 1000

class S3Failure extends Error {
  readonly status: number
  readonly code: string

  constructor(status: number, code: string) {
    super(code)
    this.status = status
    this.code = code
  }
}

/**
 * An S3 storage in memory, over real HTTP. It refuses requests whose signature or body hash is wrong, and answers as
 * AWS documents it. `keysAPage` makes its lists shorter.
 */
export async function startS3Server({
  now = Date.now,
  prefix,
  keysAPage = KEYS_A_PAGE,
}: {
  readonly now?: () => number
  readonly prefix?: string
  readonly keysAPage?: number
} = {}): Promise<S3Server> {
  const storage = new Storage(now, keysAPage)
  const requests: S3Request[] = []
  const http = createServer((request, response) => {
    void handle(request, response).catch(() => response.destroy())
  })

  const handle = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const request = await readRequest(incoming)
    requests.push(request)
    const fault = server.fault(request)
    if (fault === 'hang') return
    try {
      if (typeof fault === 'object' && 'status' in fault) throw new S3Failure(fault.status, fault.code)
      if (typeof fault === 'object') await sleep(fault.afterMs)
      authorize(request, incoming, { now, isPublic: server.isPublic })
      if (fault === 'late error') return send(response, { status: 200, body: errorXml('InternalError') })
      const reply = storage.answer(request)
      if (fault === 'lost answer') return void response.destroy()
      send(response, reply, typeof fault === 'object' ? undefined : fault)
    } catch (error) {
      if (!(error instanceof S3Failure)) throw error
      send(response, { status: error.status, body: errorXml(error.code) })
    }
  }

  const port = await freePort()
  const listen = () => new Promise<void>(resolve => http.listen(port, '127.0.0.1', resolve))
  await listen()
  const endpoint = `http://127.0.0.1:${port}`
  const settings = {
    bucket: BUCKET,
    region: REGION,
    endpoint,
    accessKeyId: ACCESS_KEY,
    secretAccessKey: SECRET,
    isPathStyle: true,
    prefix,
  }
  const server: S3Server = {
    endpoint,
    settings,
    environment: {
      TOLLGATE_S3_BUCKET: BUCKET,
      TOLLGATE_S3_REGION: REGION,
      TOLLGATE_S3_ENDPOINT: endpoint,
      TOLLGATE_S3_ACCESS_KEY_ID: ACCESS_KEY,
      TOLLGATE_S3_SECRET_ACCESS_KEY: SECRET,
      ...(prefix === undefined ? {} : { TOLLGATE_S3_PREFIX: prefix }),
    },
    objects: storage.objects,
    uploads: storage.uploads,
    requests,
    fault: () => undefined,
    isPublic: false,
    start: listen,
    async stop() {
      const closed = new Promise(resolve => http.close(resolve))
      http.closeAllConnections()
      await closed
    },
  }
  return server
}

type S3Reply = {
  readonly status: number
  readonly headers?: Record<string, string>
  readonly body?: string | Buffer
}

/** The objects and uploads of one bucket. */
class Storage {
  readonly objects = new Map<string, S3Object>()
  readonly uploads = new Map<string, S3Upload>()
  readonly #now: () => number
  readonly #keysAPage: number
  #nextUpload = 1

  constructor(now: () => number, keysAPage: number) {
    this.#now = now
    this.#keysAPage = keysAPage
  }

  answer(request: S3Request): S3Reply {
    const { method, key, query } = request
    if (key === '') return query.has('uploads') ? this.#listUploads(query) : this.#list(query)
    switch (method) {
      case 'GET':
        return this.#get(request)
      case 'PUT':
        return query.has('partNumber') ? this.#putPart(request) : this.#put(request)
      case 'POST':
        return query.has('uploads') ? this.#beginUpload(request) : this.#completeUpload(request)
      case 'DELETE':
        return query.has('uploadId') ? this.#abortUpload(request) : this.#delete(request)
      default:
        throw new S3Failure(405, 'MethodNotAllowed')
    }
  }

  #get({ key, headers }: S3Request): S3Reply {
    const { bytes, etag, modifiedMs } = this.#object(key)
    const ifMatch = headers['if-match']
    if (ifMatch !== undefined && ifMatch !== `"${etag}"`) throw new S3Failure(412, 'PreconditionFailed')
    const common = { etag: `"${etag}"`, 'last-modified': new Date(modifiedMs).toUTCString() }
    const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(headers['range'] ?? '') ?? []
    if (first === undefined) return { status: 200, headers: common, body: bytes }
    const start = Number(first)
    const end = last === '' ? bytes.length : Math.min(bytes.length, Number(last) + 1)
    if (start >= bytes.length) throw new S3Failure(416, 'InvalidRange')
    const range = { 'content-range': `bytes ${start}-${end - 1}/${bytes.length}` }
    return { status: 206, headers: { ...common, ...range }, body: bytes.subarray(start, end) }
  }

  #put({ key, headers, body }: S3Request): S3Reply {
    if (headers['if-none-match'] === '*' && this.objects.has(key))
      throw new S3Failure(412, 'PreconditionFailed')
    const ifMatch = headers['if-match']
    if (ifMatch !== undefined && ifMatch !== `"${this.#object(key).etag}"`)
      throw new S3Failure(412, 'PreconditionFailed')
    const source = headers['x-amz-copy-source']
    if (source === undefined) return { status: 200, headers: { etag: `"${this.#store(key, body)}"` } }
    const from = decodeURIComponent(source).replace(/^\//, '')
    if (!from.startsWith(`${BUCKET}/`)) throw new S3Failure(404, 'NoSuchBucket')
    const etag = this.#store(key, this.#object(from.slice(BUCKET.length + 1)).bytes)
    return {
      status: 200,
      body: xml(`<CopyObjectResult><ETag>&quot;${etag}&quot;</ETag></CopyObjectResult>`),
    }
  }

  #delete({ key }: S3Request): S3Reply {
    this.objects.delete(key)
    return { status: 204 }
  }

  #beginUpload({ key }: S3Request): S3Reply {
    const id = `upload/${this.#nextUpload}+=`
    this.#nextUpload += 1
    this.uploads.set(id, { key, parts: new Map(), initiatedMs: this.#now() })
    const body = `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`
    return { status: 200, body: xml(body) }
  }

  #putPart({ key, query, body }: S3Request): S3Reply {
    const part = { bytes: body, etag: md5Of(body), modifiedMs: this.#now() }
    this.#upload(key, query).parts.set(Number(query.get('partNumber')), part)
    return { status: 200, headers: { etag: `"${part.etag}"` } }
  }

  #completeUpload({ key, query, body }: S3Request): S3Reply {
    const { parts, initiatedMs } = this.#upload(key, query)
    const named = [...body.toString().matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>&quot;(\w+)&quot;/g)]
    const chosen = named.map(([, number, etag]) => {
      const part = parts.get(Number(number))
      if (part === undefined || part.etag !== etag) throw new S3Failure(400, 'InvalidPart')
      return part.bytes
    })
    if (chosen.length === 0) throw new S3Failure(400, 'MalformedXML')
    if (chosen.slice(0, -1).some(({ length }) => length < PART_BYTES_MIN))
      throw new S3Failure(400, 'EntityTooSmall')
    this.uploads.delete(query.get('uploadId')!)
    const etag = `${this.#store(key, Buffer.concat(chosen), initiatedMs)}-${chosen.length}`
    this.objects.set(key, { ...this.#object(key), etag })
    const result = `<CompleteMultipartUploadResult><ETag>&quot;${etag}&quot;</ETag></CompleteMultipartUploadResult>`
    return { status: 200, body: xml(result) }
  }

  #abortUpload({ key, query }: S3Request): S3Reply {
    this.#upload(key, query)
    this.uploads.delete(query.get('uploadId')!)
    return { status: 204 }
  }

  #list(query: URLSearchParams): S3Reply {
    const after = query.get('start-after') ?? ''
    const limit = Math.min(Number(query.get('max-keys') ?? KEYS_A_PAGE), this.#keysAPage)
    const found = [...this.objects.keys()]
      .filter(key => key.startsWith(query.get('prefix') ?? '') && key > after)
      .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    const contents = found.slice(0, limit).map(key => {
      const { bytes, etag, modifiedMs } = this.#object(key)
      // Storages tell whole seconds.
      const modified = new Date(Math.floor(modifiedMs / 1000) * 1000).toISOString()
      return `<Contents><Key>${encodeURIComponent(key)}</Key><LastModified>${modified}</LastModified><ETag>&quot;${etag}&quot;</ETag><Size>${bytes.length}</Size></Contents>`
    })
    const isTruncated = found.length > limit
    return {
      status: 200,
      body: xml(
        `<ListBucketResult><IsTruncated>${isTruncated}</IsTruncated>${contents.join('')}</ListBucketResult>`,
      ),
    }
  }

  #listUploads(query: URLSearchParams): S3Reply {
    const found = [...this.uploads].filter(([, { key }]) => key.startsWith(query.get('prefix') ?? ''))
    const uploads = found.map(
      ([id, { key, initiatedMs }]) =>
        `<Upload><Key>${encodeURIComponent(key)}</Key><UploadId>${id}</UploadId><Initiated>${new Date(initiatedMs).toISOString()}</Initiated></Upload>`,
    )
    return {
      status: 200,
      body: xml(`<ListMultipartUploadsResult>${uploads.join('')}</ListMultipartUploadsResult>`),
    }
  }

  #object(key: string): S3Object {
    const object = this.objects.get(key)
    if (object === undefined) throw new S3Failure(404, 'NoSuchKey')
    return object
  }

  #upload(key: string, query: URLSearchParams): S3Upload {
    const upload = this.uploads.get(query.get('uploadId') ?? '')
    if (upload === undefined || upload.key !== key) throw new S3Failure(404, 'NoSuchUpload')
    return upload
  }

  #store(key: string, bytes: Buffer, modifiedMs = this.#now()): string {
    const etag = md5Of(bytes)
    this.objects.set(key, { bytes: Buffer.from(bytes), etag, modifiedMs })
    return etag
  }
}

async function readRequest(incoming: IncomingMessage): Promise<S3Request> {
  const pieces: Buffer[] = []
  for await (const piece of incoming) pieces.push(piece as Buffer)
  const url = new URL(incoming.url ?? '/', 'http://storage')
  const [, bucket = '', ...rest] = url.pathname.split('/')
  if (bucket !== BUCKET) throw new Error('The request is for another bucket.')
  return {
    method: incoming.method ?? 'GET',
    key: decodeURIComponent(rest.join('/')),
    query: url.searchParams,
    headers: incoming.headers as Record<string, string | undefined>,
    body: Buffer.concat(pieces),
    isAnonymous: incoming.headers.authorization === undefined,
  }
}

/** Throws for a request that AWS refuses. Follows the documentation of Signature Version 4. */
function authorize(
  { method, headers, body, isAnonymous }: S3Request,
  { url = '/' }: IncomingMessage,
  { now, isPublic }: { readonly now: () => number; readonly isPublic: boolean },
): void {
  if (isAnonymous) {
    if (isPublic && method === 'GET') return
    throw new S3Failure(403, 'AccessDenied')
  }
  const [, key, day, region, names = '', signature] =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=(\w{64})$/.exec(
      headers['authorization'] ?? '',
    ) ?? []
  if (key !== ACCESS_KEY) throw new S3Failure(403, 'InvalidAccessKeyId')
  if (region !== REGION) throw new S3Failure(400, 'AuthorizationHeaderMalformed')
  const time = headers['x-amz-date'] ?? ''
  const sentMs = Date.parse(time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'))
  if (!(Math.abs(now() - sentMs) <= SKEW_MS_MAX)) throw new S3Failure(403, 'RequestTimeTooSkewed')
  const mustSign = ['host', ...Object.keys(headers).filter(name => name.startsWith('x-amz-'))]
  const signed = names.split(';')
  if (mustSign.some(name => !signed.includes(name))) throw new S3Failure(403, 'AccessDenied')
  const contentHash = headers['x-amz-content-sha256'] ?? ''
  const [path = '/', query = ''] = url.split('?')
  const canonicalQuery = query
    .split('&')
    .filter(pair => pair !== '')
    .sort((a, b) => (a.split('=')[0]! < b.split('=')[0]! ? -1 : 1))
    .join('&')
  const lines = signed.map(name => `${name}:${headers[name]}\n`).join('')
  const canonical = `${method}\n${path}\n${canonicalQuery}\n${lines}\n${names}\n${contentHash}`
  const scope = `${day}/${region}/s3/aws4_request`
  const text = `AWS4-HMAC-SHA256\n${time}\n${scope}\n${sha256Of(canonical)}`
  let secret: string | Buffer = `AWS4${SECRET}`
  for (const part of [day!, region, 's3', 'aws4_request'])
    secret = createHmac('sha256', secret).update(part).digest()
  if (createHmac('sha256', secret).update(text).digest('hex') !== signature)
    throw new S3Failure(403, 'SignatureDoesNotMatch')
  if (contentHash !== sha256Of(body)) throw new S3Failure(400, 'XAmzContentSHA256Mismatch')
}

function send(response: ServerResponse, reply: S3Reply, fault?: 'cut' | 'corrupt'): void {
  const body = Buffer.from(reply.body ?? '')
  const sent = fault === 'corrupt' && body.length > 0 ? Buffer.from(body).fill(0, 0, 1) : body
  const length = reply.status === 204 ? {} : { 'content-length': String(body.length) }
  response.writeHead(reply.status, { ...reply.headers, ...length })
  if (fault !== 'cut') return void response.end(sent)
  response.write(sent.subarray(0, sent.length / 2), () => response.destroy())
}

function xml(content: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${content}`
}

function errorXml(code: string): string {
  // Like AWS, which quotes the id of the key in some errors.
  return xml(
    `<Error><Code>${code}</Code><Message>No.</Message><AWSAccessKeyId>${ACCESS_KEY}</AWSAccessKeyId></Error>`,
  )
}

function md5Of(bytes: Buffer): string {
  return createHash('md5').update(bytes).digest('hex')
}

function sha256Of(bytes: string | Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
