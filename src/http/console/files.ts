import { createHash } from 'node:crypto'
import type { Bytes } from '../../domain/bytes.ts'
import { GatewayError } from '../../domain/errors.ts'
import { isKnown, type IncomingRequest } from '../incoming-request.ts'
import type { HttpReply } from '../request-context.ts'
import type { Route } from '../routes.ts'

/** A file with a hash of its content in its name, so that it never changes. */
export type ConsoleAsset = {
  readonly plain: Bytes
  /** Undefined for a file that compression makes no smaller. */
  readonly gzip: Bytes | undefined
  readonly brotli: Bytes | undefined
}

/** The built console. */
export type ConsoleFiles = {
  /** The one page. Its base address is `BASE`. */
  readonly page: string
  /** By their names. */
  readonly assets: ReadonlyMap<string, ConsoleAsset>
}

/** The line of the page that says where its relative addresses begin. */
const BASE = '<base href="./" />'

/**
 * Nothing comes from another host, no script or style is in the page itself, and no other page may show it in a frame.
 * Pictures and clips of jobs may be made from what a script has read.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob: data:",
  "media-src 'self' blob:",
  "connect-src 'self'",
  "base-uri 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ')

const COMMON = { 'x-content-type-options': 'nosniff', 'cross-origin-resource-policy': 'same-origin' } as const

const PAGE_HEADERS = {
  ...COMMON,
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-cache',
  'content-security-policy': POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'referrer-policy': 'no-referrer',
} as const

/** A year, the longest that caches keep a file. */
const ASSET_CACHE = 'public, max-age=31536000, immutable'

const types: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}

/**
 * The page and the files of the console. Every path below it is the page, except those of its API, which come before
 * these routes, and of files. `files` is undefined in a working copy that was not built.
 */
export function consoleFileRoutes(path: string, files: ConsoleFiles | undefined): readonly Route[] {
  const serve = files === undefined ? refuseUnbuilt : fileServer(path, files)
  const GET = async ({ request }: { readonly request: IncomingRequest }) => serve(request)
  return [
    { path: '/', name: 'console.start', methods: { GET: async ({ request }) => goToConsole(request, path) } },
    { path, name: 'console.files', methods: { GET } },
    { path: `${path}/*`, name: 'console.files', methods: { GET } },
  ]
}

/** Sends a browser that opens the address of the gateway to the console. Programs get 404, as for any unknown path. */
function goToConsole(request: IncomingRequest, path: string): HttpReply {
  if (!(request.header('accept') ?? '').includes('text/html'))
    throw new GatewayError('not_found', 'No route matches GET /.', { shouldRetry: false })
  // Relative, because a proxy may serve the gateway below a prefix.
  return { status: 302, headers: { location: `${path.slice(1)}/`, vary: 'accept' }, body: null }
}

/** The line of the page that says where the gateway is, from the base address. */
const GATEWAY = '<meta name="gateway" content="../" />'

type Serve = (request: IncomingRequest) => HttpReply

function refuseUnbuilt(): never {
  throw new GatewayError(
    'unavailable',
    'The console is not built. Start the gateway with "npm start" or "bin/tollgate serve", which build it.',
  )
}

function fileServer(path: string, { page: built, assets }: ConsoleFiles): Serve {
  const up = '../'.repeat(path.split('/').length - 1)
  const page = built.replace(GATEWAY, `<meta name="gateway" content="${up}" />`)
  // One page for each depth of a path.
  const pages = new Map<string, Page>()
  const pageAt = (base: string) => {
    let found = pages.get(base)
    if (found === undefined) pages.set(base, (found = pageOf(page, base)))
    return found
  }
  return request => {
    const below = request.path.slice(path.length)
    const [, name] = /^\/assets\/(.*)$/.exec(below) ?? []
    if (name !== undefined) return assetReply(request, name, assets.get(name))
    if (/^\/api(?:\/|$)/.test(below)) throw notFound(request)
    return pageReply(request, pageAt(baseOf(path, below)))
  }
}

type Page = { readonly body: string; readonly etag: string }

function pageOf(page: string, base: string): Page {
  const body = page.replace(BASE, `<base href="${base}" />`)
  return { body, etag: `"${createHash('sha256').update(body).digest('base64url')}"` }
}

/** So deep a path is none of ours. */
const DEPTH_MAX = 16

/**
 * The way from a page to the console, as the browser sees both. It is relative, because a proxy may serve the gateway
 * below a prefix that the gateway does not know.
 */
function baseOf(path: string, below: string): string {
  if (below === '') return `.${path.slice(path.lastIndexOf('/'))}/`
  const depth = below.split('/').length - 2
  return depth === 0 ? './' : '../'.repeat(Math.min(depth, DEPTH_MAX))
}

function pageReply(request: IncomingRequest, { body, etag }: Page): HttpReply {
  const headers = { ...PAGE_HEADERS, etag }
  return isKnown(etag, request.header('if-none-match'))
    ? { status: 304, headers, body: null }
    : { status: 200, headers, body }
}

function assetReply(request: IncomingRequest, name: string, asset: ConsoleAsset | undefined): HttpReply {
  if (asset === undefined) throw notFound(request)
  const etag = `"${name}"`
  const headers = { ...COMMON, 'cache-control': ASSET_CACHE, vary: 'accept-encoding', etag }
  if (isKnown(etag, request.header('if-none-match'))) return { status: 304, headers, body: null }
  const type = types[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream'
  const { encoding, body } = encodedFor(request.header('accept-encoding') ?? '', asset)
  return {
    status: 200,
    headers: {
      ...headers,
      'content-type': type,
      ...(encoding !== undefined && { 'content-encoding': encoding }),
    },
    body,
  }
}

/** The smallest form that the client accepts. */
function encodedFor(accepted: string, { plain, gzip, brotli }: ConsoleAsset) {
  if (brotli !== undefined && accepts(accepted, 'br')) return { encoding: 'br', body: brotli }
  if (gzip !== undefined && accepts(accepted, 'gzip')) return { encoding: 'gzip', body: gzip }
  return { encoding: undefined, body: plain }
}

/** Whether a list such as `gzip, br;q=0` names an encoding, and not with the weight 0. */
function accepts(list: string, encoding: string): boolean {
  return list.split(',').some(item => {
    const [name = '', ...parameters] = item.split(';').map(part => part.trim().toLowerCase())
    return name === encoding && !parameters.some(parameter => /^q=0(?:\.0*)?$/.test(parameter))
  })
}

function notFound({ path }: IncomingRequest): GatewayError {
  return new GatewayError('not_found', `The console has no file ${path.slice(0, 200)}. Reload the page.`)
}
