import { createHash } from 'node:crypto'
import type { Bytes } from '../../domain/bytes.ts'
import { isKnown, type IncomingRequest } from '../incoming-request.ts'
import type { HttpReply } from '../request-context.ts'
import type { Route } from '../routes.ts'
import { adminDocument, apiDocument, type ApiOptions } from './document.ts'
import { PAGE, START_SCRIPT } from './page.ts'

/** The files of the viewer that the page loads, by their names. */
export type ViewerFiles = Readonly<Record<'swagger-ui-bundle.js' | 'swagger-ui.css', Bytes>>

const JAVASCRIPT = 'text/javascript; charset=utf-8'
/** The page loads nothing from another host, and no other page may show it in a frame. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/**
 * The descriptions of the API and of the admin API as documents, and a page that shows the first. Customers need not
 * know the second. `files` reads the viewer on first use. `admitReader` rejects for a request that may not read the
 * admin API.
 */
export function descriptionRoutes(
  options: ApiOptions,
  files: () => ViewerFiles,
  admitReader: (request: IncomingRequest) => Promise<void>,
): readonly Route[] {
  const route = (path: string, name: string, asset: () => Asset, more: Headers = {}): Route => {
    // Built on first use, because most gateways never serve it.
    const made = once(asset)
    return { path, name, methods: { GET: async ({ request }) => assetReply(request, made(), more) } }
  }
  const viewer = once(files)
  const document = () => textAsset(JSON.stringify(apiDocument(options)), 'application/json')
  const ofAdmin = once(() => textAsset(JSON.stringify(adminDocument()), 'application/json'))
  return [
    {
      path: '/admin/openapi.json',
      name: 'openapi',
      methods: {
        GET: async ({ request }) => {
          await admitReader(request)
          return assetReply(request, ofAdmin(), {})
        },
      },
    },
    route('/openapi.json', 'openapi', document, { 'access-control-allow-origin': '*' }),
    route('/docs', 'docs', () => textAsset(PAGE, 'text/html; charset=utf-8'), {
      'content-security-policy': POLICY,
      'referrer-policy': 'no-referrer',
    }),
    route('/docs/start.js', 'docs', () => textAsset(START_SCRIPT, JAVASCRIPT)),
    route('/docs/swagger-ui-bundle.js', 'docs', () => assetOf(viewer()['swagger-ui-bundle.js'], JAVASCRIPT)),
    route('/docs/swagger-ui.css', 'docs', () =>
      assetOf(viewer()['swagger-ui.css'], 'text/css; charset=utf-8'),
    ),
  ]
}

type Headers = Readonly<Record<string, string>>

type Asset = { readonly body: Bytes; readonly etag: string; readonly type: string }

function once<Value>(make: () => Value): () => Value {
  let made: Value | undefined
  return () => (made ??= make())
}

function textAsset(text: string, type: string): Asset {
  return assetOf(new TextEncoder().encode(text), type)
}

function assetOf(body: Bytes, type: string): Asset {
  return { body, type, etag: `"${createHash('sha256').update(body).digest('base64url')}"` }
}

function assetReply(request: IncomingRequest, { body, etag, type }: Asset, more: Headers): HttpReply {
  const headers = { 'cache-control': 'no-cache', etag, 'x-content-type-options': 'nosniff', ...more }
  return isKnown(etag, request.header('if-none-match'))
    ? { status: 304, headers, body: null }
    : { status: 200, headers: { ...headers, 'content-type': type }, body }
}
