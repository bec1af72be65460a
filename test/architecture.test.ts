import { globSync, readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { describe, expect, test } from 'bun:test'
import { parseSync } from 'oxc-parser'

const root = resolve(import.meta.dirname, '../src')

/** `app.ts` and its folder wire the parts together, so they may know them all. */
const parts = [
  'app',
  'domain',
  'protocol',
  'gateway',
  'catalog-file',
  'config',
  'providers',
  'reconciler',
  'stores',
  'telemetry',
  'tokenizer',
  'http',
  'http1',
  'node:',
]

/**
 * Who may import whom, and which packages. A layer may import itself; nothing else is implied, and the first name that
 * fits a file is its layer. Changing this table is a decision for docs/decisions/.
 */
const layers: Record<string, readonly string[]> = {
  domain: [],
  // A library of its own.
  http1: [],
  protocol: ['domain'],
  gateway: ['domain', 'protocol'],
  'catalog-file': ['domain', 'yaml', 'zod'],
  config: ['domain', 'gateway'],
  reconciler: ['domain', 'gateway'],
  providers: ['domain', 'protocol', 'gateway/ports', 'http1', 'zod'],
  'stores/sqlite': ['domain', 'gateway/ports', 'bun:sqlite', 'node:'],
  'stores/memory': ['gateway/ports'],
  telemetry: ['domain', 'gateway', 'prom-client'],
  tokenizer: ['gateway/ports', 'gpt-tokenizer', 'tokenx'],
  http: [
    'domain',
    'protocol',
    'gateway',
    'http1',
    'catalog-file',
    'config',
    'telemetry',
    'zod',
    'node:crypto',
  ],
  cli: ['domain', 'config', 'http/admin', 'app.ts', 'commander', 'node:'],
  'cli.ts': ['cli', 'app.ts', 'node:'],
  'app.ts': parts,
  app: parts,
}

const sources = globSync('**/*.ts', { cwd: root }).filter(path => !path.endsWith('.test.ts'))

function layerOf(path: string): string | undefined {
  return Object.keys(layers).find(layer => isWithin(path, layer))
}

function isWithin(path: string, layer: string): boolean {
  return path === layer || path.startsWith(layer.endsWith(':') ? layer : `${layer}/`)
}

/** Every module a file names: static, type-only and dynamic imports and re-exports. */
function importsOf(path: string): string[] {
  const file = resolve(root, path)
  const code = readFileSync(file, 'utf8')
  const { module, errors } = parseSync(file, code)
  if (errors.length > 0) throw new Error(`${path} does not parse: ${errors[0]!.message}`)
  const dynamic = module.dynamicImports.map(({ moduleRequest }) => {
    const literal = /^(['"])(.*)\1$/.exec(code.slice(moduleRequest.start, moduleRequest.end))
    return literal?.[2] ?? 'an import whose name is computed'
  })
  const named = [
    ...module.staticImports.map(found => found.moduleRequest.value),
    ...module.staticExports.flatMap(found =>
      found.entries.flatMap(entry => entry.moduleRequest?.value ?? []),
    ),
    ...dynamic,
  ]
  return named.map(name => (name.startsWith('.') ? relative(root, resolve(dirname(file), name)) : name))
}

describe('architecture', () => {
  test('every source file belongs to a layer', () => {
    // A check that reads no file would always pass.
    expect(sources.length).toBeGreaterThan(15)

    const strays = sources.filter(path => layerOf(path) === undefined)

    expect(strays).toEqual([])
  })

  test.each(sources)('%s imports only what its layer may', path => {
    const layer = layerOf(path)!
    const allowed = [layer, ...layers[layer]!]

    const forbidden = importsOf(path).filter(name => !allowed.some(layer => isWithin(name, layer)))

    expect(forbidden).toEqual([])
  })

  test('only config reads the environment', () => {
    const readers = sources.filter(path =>
      /process\.env|Bun\.env/.test(readFileSync(resolve(root, path), 'utf8')),
    )

    expect(readers.filter(path => layerOf(path) !== 'config' && path !== 'cli.ts')).toEqual([])
  })
})
