/**
 * Writes the types of the admin API for the console, console/src/api/schema.d.ts, from the OpenAPI document. With
 * `--print` it prints them instead. Descriptions and errors are left out: they would be three quarters of the file, and
 * the console has one type for all errors.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { adminDocument } from '../src/http/description/document.ts'

const root = resolve(import.meta.dirname, '..')
const target = join(root, 'console/src/api/schema.d.ts')
const HEAD = '// Written by `npm run console-types` from the OpenAPI document of the admin API.\n'

/** What only people read. */
const PROSE = new Set(['description', 'summary', 'example', 'examples', 'headers', 'title', 'default'])

/** Without prose. The names of properties are kept, whatever they are. */
function slim(value: unknown, isProperties = false): unknown {
  if (Array.isArray(value)) return value.map(item => slim(item))
  if (value === null || typeof value !== 'object') return value
  const kept = Object.entries(value).filter(([name]) => isProperties || !PROSE.has(name))
  return Object.fromEntries(kept.map(([name, item]) => [name, slim(item, name === 'properties')]))
}

/** Without replies that are errors. */
function successes(paths: object): object {
  return mapped(paths, path =>
    mapped(path, operation => ({
      ...operation,
      ...('responses' in operation && { responses: ofSuccess(operation.responses as object) }),
    })),
  )
}

function ofSuccess(responses: object): object {
  return Object.fromEntries(Object.entries(responses).filter(([status]) => status.startsWith('2')))
}

function mapped(of: object, change: (value: object) => object): object {
  return Object.fromEntries(Object.entries(of).map(([name, value]) => [name, change(value as object)]))
}

/** Runs openapi-typescript, which needs another TypeScript than this repository, in a process of its own. */
function typesOf(document: object): string {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-types-'))
  try {
    const input = join(folder, 'admin.json')
    const output = join(folder, 'schema.d.ts')
    writeFileSync(input, JSON.stringify(document))
    const command = join(root, 'console/node_modules/.bin/openapi-typescript')
    const { exitCode, stderr } = Bun.spawnSync([command, input, '--output', output])
    if (exitCode !== 0) throw new Error(`openapi-typescript failed: ${stderr.toString()}`)
    return readFileSync(output, 'utf8')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Without members that say only what is absent. openapi-fetch reads an absent member in the same way. */
function withoutNever(types: string): string {
  return types
    .replace(/^\/\*\*[\s\S]*?\*\/\n/, HEAD)
    .replaceAll(/^ *\w+\?: never;\n/gm, '')
    .replaceAll(/^ *headers: \{\n *\[name: string\]: unknown;\n *\};\n/gm, '')
    .replaceAll(/^ *(?:\/\*\* @(?:constant|enum \{\w+\}) \*\/|\/\*\* Format: [\w-]+ \*\/)\n/gm, '')
    .replaceAll(/^( +)/gm, (spaces: string) => ' '.repeat(spaces.length / 2))
}

const { webhooks: _, ...document } = adminDocument() as unknown as { paths: object; webhooks?: unknown }
const types = withoutNever(typesOf(slim({ ...document, paths: successes(document.paths) }) as object))
if (process.argv.includes('--print')) process.stdout.write(types)
else writeFileSync(target, types)
