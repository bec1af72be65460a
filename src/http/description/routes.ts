import { createHash } from 'node:crypto'
import { isKnown } from '../etag.ts'
import type { IncomingRequest } from '../incoming-request.ts'
import type { HttpReply } from '../request-context.ts'
import type { Route } from '../routes.ts'
import { apiDocument } from './document.ts'
import { PAGE, START_SCRIPT } from './page.ts'

/** The files of the viewer that the page loads, by their names. */
export type ViewerFiles = Readonly<Record<'swagger-ui-bundle.js' | 'swagger-ui.css', Uint8Array<ArrayBuffer>>>

const TYPES = { js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8' }
/** The page loads nothing from another host, and no other page may show it in a frame. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** The description of the API: as a document, and as a page that shows it. `files` reads the viewer on first use. */
export function descriptionRoutes(brand: string, files: () => ViewerFiles): readonly Route[] {
  // Most gateways are never asked for it.
  let document: Asset | undefined
  let viewer: ViewerFiles | undefined
  const bytes = (text: string) => new TextEncoder().encode(text)
  const file = (name: keyof ViewerFiles, type: string): Route => ({
    path: `/docs/${name}`,
    name: 'docs',
    methods: {
      GET: async ({ request }) => assetReply(request, assetOf((viewer ??= files())[name], type)),
    },
  })
  return [
    {
      path: '/openapi.json',
      name: 'openapi',
      methods: {
        GET: async ({ request }) => {
          document ??= assetOf(bytes(JSON.stringify(apiDocument({ brand }))), 'application/json')
          return assetReply(request, document, { 'access-control-allow-origin': '*' })
        },
      },
    },
    {
      path: '/docs',
      name: 'docs',
      methods: {
        GET: async ({ request }) =>
          assetReply(request, assetOf(bytes(PAGE), 'text/html; charset=utf-8'), {
            'content-security-policy': POLICY,
            'referrer-policy': 'no-referrer',
          }),
      },
    },
    {
      path: '/docs/start.js',
      name: 'docs',
      methods: { GET: async ({ request }) => assetReply(request, assetOf(bytes(START_SCRIPT), TYPES.js)) },
    },
    file('swagger-ui-bundle.js', TYPES.js),
    file('swagger-ui.css', TYPES.css),
  ]
}

type Asset = { readonly body: Uint8Array<ArrayBuffer>; readonly etag: string; readonly type: string }

function assetOf(body: Uint8Array<ArrayBuffer>, type: string): Asset {
  return { body, type, etag: `"${createHash('sha256').update(body).digest('base64url')}"` }
}

function assetReply(
  request: IncomingRequest,
  { body, etag, type }: Asset,
  more: Readonly<Record<string, string>> = {},
): HttpReply {
  const headers = { 'cache-control': 'no-cache', etag, 'x-content-type-options': 'nosniff', ...more }
  return isKnown(etag, request.header('if-none-match'))
    ? { status: 304, headers, body: null }
    : { status: 200, headers: { ...headers, 'content-type': type }, body }
}
