import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spawn } from 'bun'
import { ADMIN_PATH } from '../src/http/admin/admin-api.ts'
import { routes as adminRoutes } from '../src/http/admin/routes.ts'
import { API_VERSION, adminDocument, apiDocument } from '../src/http/description/document.ts'
import { ADMIN_KEY, startTestGateway } from './support/gateway.ts'
import { root } from './support/snippets.ts'

const document = apiDocument({ brand: 'service', isOpenAiMediaOn: false })
const openAiDocument = apiDocument({ brand: 'service', isOpenAiMediaOn: true })

/** The linter takes three seconds of CPU. */
const LINTER_TIMEOUT_MS = 180_000

test.each([
  ['the API', document],
  ['the API with TOLLGATE_OPENAI_MEDIA', openAiDocument],
  ['the admin API', adminDocument()],
])(
  'the document of %s passes the strict rules of its linter without a warning',
  async (_, linted) => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-openapi-'))
    writeFileSync(join(folder, 'openapi.json'), JSON.stringify(linted))

    const linter = spawn(
      [
        'node',
        join(root, 'node_modules/@redocly/cli/bin/cli.js'),
        'lint',
        '--extends',
        'recommended-strict',
        '--format',
        'json',
        'openapi.json',
      ],
      {
        cwd: folder,
        env: {
          PATH: process.env['PATH'],
          REDOCLY_TELEMETRY: 'off',
          REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
        },
        stdout: 'pipe',
        stderr: 'ignore',
      },
    )
    const report = JSON.parse(await new Response(linter.stdout).text()) as {
      readonly totals: object
      readonly problems: readonly object[]
    }
    rmSync(folder, { recursive: true, force: true })

    expect(report.problems).toEqual([])
    expect(report.totals).toMatchObject({ errors: 0, warnings: 0 })
  },
  LINTER_TIMEOUT_MS,
)

/** The names of the headers of a reply of `POST`. */
function headersOf(path: string, status: string): string[] {
  const reply = document.paths[path]?.['post']?.responses[status] as {
    readonly $ref?: string
    readonly headers?: object
  }
  const name = reply.$ref?.split('/').at(-1)
  const { headers = {} } = name === undefined ? reply : document.components.responses[name]!
  return Object.keys(headers).sort()
}

test.each([
  ['/v1/chat/completions', '200', ['x-request-id', 'x-service-cost-usd', 'x-service-replay']],
  ['/v1/messages', '200', ['request-id', 'x-request-id', 'x-service-cost-usd']],
  ['/v1/messages/count_tokens', '200', ['request-id', 'x-request-id']],
  ['/v1/chat/completions', '429', ['retry-after', 'x-request-id', 'x-should-retry']],
  ['/v1/messages', '429', ['request-id', 'retry-after', 'x-request-id', 'x-should-retry']],
  ['/v1/videos', '502', ['x-request-id', 'x-should-retry']],
  ['/v1/videos', '503', ['retry-after', 'x-request-id', 'x-should-retry']],
])('the reply of %s with %s is described with the headers that it can have', (path, status, headers) => {
  expect(headersOf(path, status)).toEqual(headers)
})

test('the document names neither the program nor a value of a setting, because operators have their own', () => {
  const published = JSON.stringify(apiDocument({ brand: 'acme', isOpenAiMediaOn: false }))

  expect(published).not.toContain('Tollgate')
  expect(published).not.toMatch(/\b(7 days|150 seconds|90 at most)\b/)
})

test('text routes are not described with a conflict of idempotency keys, which they never answer', () => {
  const text = Object.entries(document.paths).filter(([path]) =>
    /^\/v1\/(chat|responses|embeddings|messages)/.test(path),
  )

  expect(text.length).toBe(5)
  expect(JSON.stringify(text)).not.toContain('"409"')
})

test('the document of the admin API describes each method of each path, and no other', () => {
  const rowOf = (path: string, methods: object) =>
    [
      path,
      ...Object.keys(methods)
        .map(method => method.toLowerCase())
        .toSorted(),
    ].join(' ')
  const described = Object.entries(adminDocument().paths)
    .filter(([path]) => path.startsWith(ADMIN_PATH))
    .map(([path, methods]) => rowOf(path.slice(ADMIN_PATH.length), methods))

  const routed = adminRoutes.map(({ path, methods }) => rowOf(path.replace('...}', '}'), methods))

  expect(new Set(described)).toEqual(new Set(routed))
})

test.each([
  ['off', document],
  ['on', openAiDocument],
])(
  'each described path of the gateway allows exactly its described methods, with TOLLGATE_OPENAI_MEDIA=%s',
  async (setting, described) => {
    const gateway = await startTestGateway({ environment: { TOLLGATE_OPENAI_MEDIA: setting } })
    const paths = Object.entries(described.paths)

    const allowed = await Promise.all(
      paths.map(async ([path]) => {
        const url = gateway.url + path.replace('{file}', 'start.js').replace(/\{\w+\}/, 'x')
        const { status, headers } = await fetch(url, { method: 'PUT' })
        return [path, status, (headers.get('allow') ?? '').split(', ').filter(method => method !== 'HEAD')]
      }),
    )
    await gateway.stop()

    expect(allowed).toEqual(
      paths.map(([path, methods]) => [path, 405, Object.keys(methods).map(method => method.toUpperCase())]),
    )
  },
)

test('the gateway serves the document with its version and the brand of its headers, for every origin', async () => {
  const gateway = await startTestGateway({ environment: { TOLLGATE_BRAND: 'acme' } })

  const first = await fetch(`${gateway.url}/openapi.json`)
  const etag = first.headers.get('etag') ?? ''
  const second = await fetch(`${gateway.url}/openapi.json`, { headers: { 'if-none-match': etag } })
  await gateway.stop()

  const served = (await first.json()) as typeof document
  expect(first.headers.get('access-control-allow-origin')).toBe('*')
  expect(served.info.version).toBe(API_VERSION)
  expect(served).toEqual(
    JSON.parse(JSON.stringify(apiDocument({ brand: 'acme', isOpenAiMediaOn: false }))) as typeof document,
  )
  expect(JSON.stringify(served)).toContain('x-acme-cost-usd')
  expect(second.status).toBe(304)
})

test('the document for customers says nothing of the admin API, which has its own, behind the admin key', async () => {
  const gateway = await startTestGateway()
  const read = (headers: Record<string, string>) => fetch(`${gateway.url}/admin/openapi.json`, { headers })

  const [keyless, served] = await Promise.all([read({}), read({ authorization: `Bearer ${ADMIN_KEY}` })])
  await gateway.stop()

  expect(Object.keys(document.paths).filter(path => path.startsWith('/admin'))).toEqual([])
  expect(document.tags.filter(({ name }) => name.startsWith('Admin'))).toEqual([])
  expect(Object.keys(document.components.schemas)).not.toContain('Account')
  expect(keyless.status).toBe(401)
  expect(served.headers.get('access-control-allow-origin')).toBeNull()
  expect((await served.json()) as object).toEqual(JSON.parse(JSON.stringify(adminDocument())) as object)
})

test.each(Object.entries({ ...document.paths, ...adminDocument().paths }))(
  'the parameters in braces of %s are its described path parameters',
  (path, methods) => {
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)

    for (const { parameters = [] } of Object.values(methods))
      expect(parameters.filter(each => each.in === 'path').map(({ name }) => name)).toEqual(named as string[])
    expect(named).not.toContain('key')
  },
)

test('what the readers refuse is refused by the schemas, too', () => {
  const { schemas } = adminDocument().components
  const pattern = (name: string, member: string) => {
    const { properties } = schemas[name] as {
      readonly properties: Readonly<Record<string, { pattern: string }>>
    }
    return new RegExp(properties[member]?.pattern ?? '')
  }

  const amounts = ['0', '0.0', '-1', '1e3', '0.0000000001'].filter(text =>
    pattern('NewGrant', 'amount_usd').test(text),
  )
  const names = ['acct_1', '   ', 'a\nb'].filter(text => pattern('NewAccount', 'name').test(text))

  expect([amounts, names]).toEqual([[], []])
  expect(pattern('NewGrant', 'amount_usd').test('0.000000001')).toBe(true)
  expect(pattern('NewAccount', 'name').test('Ada Lovelace')).toBe(true)
})

test('the page at /docs loads all of its files from the gateway, and has dark colors', async () => {
  const gateway = await startTestGateway()

  const page = await fetch(`${gateway.url}/docs`)
  const html = await page.text()
  const links = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link = '']) => link)
  const files = links.filter(link => !link.startsWith('data:'))
  const statuses = await Promise.all(
    files.map(async file => (await fetch(new URL(file, `${gateway.url}/docs`))).status),
  )
  const [starter, styles] = await Promise.all(
    ['docs/start.js', 'docs/swagger-ui.css'].map(async file =>
      (await fetch(new URL(file, `${gateway.url}/docs`))).text(),
    ),
  )
  await gateway.stop()

  expect(html).toContain('name="color-scheme" content="light dark"')
  // The class of the viewer's dark colors.
  for (const text of [starter, styles]) expect(text).toContain('dark-mode')
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(files).toContain('docs/swagger-ui-bundle.js')
  expect(files.filter(file => /^(https?:)?\/\//.test(file))).toEqual([])
  expect(statuses).toEqual(files.map(() => 200))
})
