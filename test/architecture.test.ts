import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, test } from 'bun:test'
import { parseSync, Visitor } from 'oxc-parser'

const root = resolve(import.meta.dirname, '../src')

/** `app.ts` and `app/` wire the parts, so they may import all of them. */
const parts = [
  'app',
  'domain',
  'protocol',
  'gateway',
  'catalog-file',
  'config',
  'providers',
  'reconciler',
  'smtp',
  'identity',
  'stores',
  'telemetry',
  'tokenizer',
  'http',
  'http1',
  'node:',
]

/**
 * The layers and packages that each layer may import. A layer may import itself. The layer of a file is the first name
 * that matches its path. A change of this table needs a page in docs/decisions/.
 */
const layers: Record<string, readonly string[]> = {
  domain: [],
  // A separate library. Its tests and src/http1/testing/ import nothing else either.
  http1: [],
  protocol: ['domain'],
  gateway: ['domain', 'protocol'],
  'catalog-file': ['domain', 'yaml'],
  config: ['domain', 'gateway', 'node:net'],
  reconciler: ['domain', 'gateway'],
  providers: ['domain', 'protocol', 'gateway/ports', 'http1', 'node:zlib'],
  smtp: ['domain', 'gateway/ports', 'nodemailer'],
  identity: ['domain', 'gateway/ports', 'otpauth', 'oauth4webapi'],
  // Secrets are sealed alike by every store, and web standards have no cipher that answers at once.
  'stores/books': ['domain', 'gateway/ports', 'node:crypto'],
  'stores/sqlite': ['domain', 'gateway/ports', 'stores/books', 'bun:sqlite', 'node:'],
  'stores/postgres': ['domain', 'gateway/ports', 'stores/books', 'bun', 'node:'],
  'stores/disk': ['domain', 'gateway/ports', 'node:'],
  'stores/memory': ['gateway/ports'],
  'stores/s3': ['domain', 'gateway/ports', 'http1', 'node:crypto'],
  'stores/valkey': ['gateway/ports', 'node:crypto', 'node:net', 'node:tls'],
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
    'node:crypto',
    'node:net',
    'node:stream',
    'node:zlib',
  ],
  cli: ['domain', 'config', 'http/admin', 'app.ts', 'commander', 'node:'],
  'cli.ts': ['cli', 'app.ts', 'node:'],
  'app.ts': parts,
  app: parts,
}

/** Folders of the gateway below its use cases, and the parts of the gateway that they may import. */
const belowUseCases: Record<string, readonly string[]> = {
  'gateway/ports': [],
  // It calls the upstreams of a request and does not know what the request is for.
  'gateway/upstreams': ['gateway/ports', 'gateway/admission/callable-model.ts'],
}

const files = globSync('**/*.ts', { cwd: root })
/** What is installed. The `files` of package.json leaves out the same. */
const sources = files.filter(path => !isTest(path))

/** Tests, and their support in a folder `testing/`. */
function isTest(path: string): boolean {
  return path.endsWith('.test.ts') || path.includes('/testing/')
}

function layerOf(path: string): string | undefined {
  return Object.keys(layers).find(layer => isWithin(path, layer))
}

function isWithin(path: string, layer: string): boolean {
  return path === layer || path.startsWith(layer.endsWith(':') ? layer : `${layer}/`)
}

/** The calls of a statement, of `node:fs` and of the network, and `open` and `load`, our names for what reads. */
const IO_CALL = /^(get|all|values|iterate|run|exec|fetch|open|load|\w+Sync)$/
const FUNCTION = /^(ArrowFunctionExpression|FunctionExpression)$/

/** A function, a method or the value of a field, with the calls directly in it. */
type Body = {
  readonly name: string
  readonly isConstructor: boolean
  /** The calls for I/O. */
  readonly io: string[]
  /** Other calls of functions, and of methods of `this`. */
  readonly called: string[]
}

/** Reads the functions of a file. A function inside another one is separate, because it runs later. */
function bodiesOf(code: string): readonly Body[] {
  const bodies: Body[] = []
  /** The functions around the current place. */
  const around: Body[] = []
  let next = { name: '', isConstructor: false }
  const enter = ({ name, isConstructor }: typeof next) => {
    const body = { name, isConstructor, io: [], called: [] }
    bodies.push(body)
    around.push(body)
    next = { name: '', isConstructor: false }
  }
  const exit = () => void around.pop()
  const nameAt = ({ start, end }: { start: number; end: number }) => code.slice(start, end).replace(/^#/, '')
  const visitor = new Visitor({
    MethodDefinition: ({ key, kind }) =>
      void (next = { name: nameAt(key), isConstructor: kind === 'constructor' }),
    VariableDeclarator({ id, init }) {
      if (init !== null && FUNCTION.test(init.type)) next = { name: nameAt(id), isConstructor: false }
    },
    FunctionExpression: () => enter(next),
    'FunctionExpression:exit': exit,
    FunctionDeclaration: ({ id }) => enter({ name: id === null ? '' : nameAt(id), isConstructor: false }),
    'FunctionDeclaration:exit': exit,
    ArrowFunctionExpression: () => enter(next),
    'ArrowFunctionExpression:exit': exit,
    PropertyDefinition: node => enter({ name: '', isConstructor: !node.static }),
    'PropertyDefinition:exit': exit,
    CallExpression({ callee }) {
      const isMember = callee.type === 'MemberExpression'
      const name = nameAt(isMember ? callee.property : callee)
      if (IO_CALL.test(name)) around.at(-1)?.io.push(name)
      else if (!isMember || callee.object.type === 'ThisExpression') around.at(-1)?.called.push(name)
    },
  })
  visitor.visit(parseSync('source.ts', code).program)
  return bodies
}

/**
 * The calls for I/O that run in a constructor or for a field, and those in the functions and methods of the same file
 * that it calls. A function of another file, and a call inside of a called function, is not followed.
 */
function ioInConstructors(code: string): string[] {
  const bodies = bodiesOf(code)
  const ioOf = (called: string) =>
    bodies.flatMap(({ name, io }) => (name === called ? io.map(call => `${call} in ${name}`) : []))
  return bodies
    .filter(({ isConstructor }) => isConstructor)
    .flatMap(({ io, called }) => io.concat(called.flatMap(ioOf)))
}

/** What the runtime offers without an import, beside web standards. */
const RUNTIME_GLOBAL = /^(Bun|Buffer|process|setImmediate)$/

/** The runtime's own globals that a file uses. */
function globalsIn(code: string): string[] {
  const found: string[] = []
  const members = new Set<number>()
  const visitor = new Visitor({
    MemberExpression: ({ property, computed }) => void (computed || members.add(property.start)),
    Identifier: ({ name, start }) =>
      void (RUNTIME_GLOBAL.test(name) && !members.has(start) && found.push(name)),
  })
  visitor.visit(parseSync('source.ts', code).program)
  return found
}

const COMPUTED_NAME = 'an import with a computed name'

/** The types that a file declares, except `Parts`: what the file is made of. */
function typesOf(code: string): string[] {
  return [...code.matchAll(/^(?:export )?(?:abstract )?(?:type|interface|class) (\w+)/gm)]
    .map(([, name]) => name!)
    .filter(name => name !== 'Parts')
}

/** The packages that a folder's manifest names for its built files. */
function packagesOf(folder: string): Readonly<Record<string, string>> {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>
  }
  return manifest.dependencies
}

/** All modules that a file imports or re-exports, including types and dynamic imports. */
function importsOf(path: string, from = root): string[] {
  const file = resolve(root, path)
  const code = readFileSync(file, 'utf8')
  const { module, errors } = parseSync(file, code)
  if (errors.length > 0) throw new Error(`${path} does not parse: ${errors[0]!.message}`)
  const dynamic = module.dynamicImports.map(({ moduleRequest }) => {
    const literal = /^(['"])(.*)\1$/.exec(code.slice(moduleRequest.start, moduleRequest.end))
    return literal?.[2] ?? COMPUTED_NAME
  })
  const named = [
    ...module.staticImports.map(found => found.moduleRequest.value),
    ...module.staticExports.flatMap(found =>
      found.entries.flatMap(entry => entry.moduleRequest?.value ?? []),
    ),
    ...dynamic,
  ]
  return named.map(name => (name.startsWith('.') ? relative(from, resolve(dirname(file), name)) : name))
}

describe('architecture', () => {
  test('every source file belongs to a layer', () => {
    // Without any files, the test would always pass.
    expect(sources.length).toBeGreaterThan(15)

    const unknown = sources.filter(path => layerOf(path) === undefined)

    expect(unknown).toEqual([])
  })

  test.each(sources)('%s imports only what its layer may', path => {
    const layer = layerOf(path)!
    const allowed = [layer, ...layers[layer]!]

    const forbidden = importsOf(path).filter(name => !allowed.some(layer => isWithin(name, layer)))

    expect(forbidden).toEqual([])
  })

  test.each(Object.entries(belowUseCases))('%s/ imports no use case of the gateway', (folder, allowed) => {
    const imports = sources.filter(path => isWithin(path, folder)).flatMap(path => importsOf(path))
    const ofGateway = imports.filter(name => isWithin(name, 'gateway') && !isWithin(name, folder))

    expect(ofGateway.filter(name => !allowed.some(part => isWithin(name, part)))).toEqual([])
  })

  test.each(['domain', 'protocol', 'gateway', 'stores/books'])('%s/ uses no runtime API', folder => {
    const users = sources.filter(
      path => isWithin(path, folder) && globalsIn(readFileSync(resolve(root, path), 'utf8')).length > 0,
    )

    expect(users).toEqual([])
    expect(globalsIn('// Bun\nBun.sleep(1); timers.setImmediate(f)')).toEqual(['Bun'])
  })

  test('no constructor does I/O', () => {
    const found = sources.flatMap(path =>
      ioInConstructors(readFileSync(resolve(root, path), 'utf8')).map(call => `${call} in ${path}`),
    )

    expect(found).toEqual([])
  })

  test('a constructor that does I/O is found, and a function that it makes is not', () => {
    const code = `class Rows {
      readonly last = Reader.open()
      #rows
      constructor(sql, hints) {
        this.#rows = sql.prepare('SELECT 1').all()
        hints.listen(() => sql.get())
      }
      read() { return this.#rows.get(1) }
    }`

    expect(ioInConstructors(code)).toEqual(['open', 'all'])
  })

  test('a constructor that does I/O by a private method or a function of its file is found', () => {
    const code = `class Chain {
      #latest = firstOf(sql)
      constructor(database, name) {
        this.#load()
        this.#latest = latestOf(name, database)
        this.#read()
        database.listen(() => latestOf(name, database))
      }
      #load() {}
      #read() { return this.#rows.all() }
      later() { return lastOf(this) }
    }
    const firstOf = sql => sql.values()
    function latestOf(name, database) { return database.query('SELECT 1').get(name) }
    function lastOf(sql) { return sql.iterate() }`

    expect(ioInConstructors(code)).toEqual(['values in firstOf', 'load', 'get in latestOf', 'all in read'])
  })

  test('the console imports only its own files and packages, and no source imports the console', () => {
    const folder = resolve(root, '../console')
    const allowed = [...Object.keys(packagesOf(folder)), 'src/']
    const importsOfConsole = globSync('src/**/*.{ts,tsx}', { cwd: folder }).flatMap(path =>
      importsOf(join(folder, path), folder).map(name => `${path}: ${name}`),
    )

    expect(importsOfConsole).toContain('src/main.tsx: preact')
    expect(
      importsOfConsole.filter(line => !allowed.some(name => line.split(': ')[1]!.startsWith(name))),
    ).toEqual([])
    expect(sources.filter(path => importsOf(path).some(name => name.includes('../console')))).toEqual([])
  })

  test('no source imports support for tests', () => {
    const found = sources.filter(path => importsOf(path).some(isTest))

    expect(found).toEqual([])
  })

  test.each(files.filter(path => path.startsWith('http1/') && isTest(path)))(
    '%s imports only http1, the runtime and fast-check, so that http1 can be used elsewhere with its tests',
    path => {
      // The examples of the README import from http1.
      const examples = path === 'http1/readme.test.ts' ? [COMPUTED_NAME] : []
      const allowed = ['http1', 'bun', 'bun:', 'node:', 'fast-check', ...examples]

      expect(importsOf(path).filter(name => !allowed.some(part => isWithin(name, part)))).toEqual([])
    },
  )

  test.each(
    readdirSync(root, { withFileTypes: true }).flatMap(entry => (entry.isDirectory() ? [entry.name] : [])),
  )('%s/ has a README that names files that exist', folder => {
    const readme = readFileSync(resolve(root, folder, 'README.md'), 'utf8')

    const named = [...readme.matchAll(/`([a-z0-9-]+(?:\/[a-z0-9-]+)*\.ts)`/g)].map(([, path = '']) => path)

    expect(named.length).toBeGreaterThan(0)
    expect(named.filter(path => !existsSync(resolve(root, folder, path)))).toEqual([])
  })

  test('a name of a type has one meaning within a store', () => {
    const stores = sources.filter(path => path.startsWith('stores/'))
    const names = stores.flatMap(path =>
      typesOf(readFileSync(resolve(root, path), 'utf8')).map(name => `${layerOf(path)}: ${name}`),
    )

    // Without any names, the test would always pass.
    expect(names).toContain('stores/sqlite: SqliteStore')
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
  })

  test('paid work begins only where the guard of the books is asked', () => {
    const callers = (call: RegExp) =>
      sources.filter(
        path => !path.startsWith('stores/') && call.test(readFileSync(resolve(root, path), 'utf8')),
      )

    expect(callers(/\.placeHold\(/)).toEqual(['gateway/admission/hold-queue.ts'])
    expect(callers(/jobs\.create\(/).toSorted()).toEqual([
      'gateway/media/create/create-job.ts',
      // Passes the call of the other file on.
      'gateway/media/observe-jobs.ts',
    ])
  })

  test('only config reads the environment', () => {
    const readers = sources.filter(path =>
      /process\.env|Bun\.env/.test(readFileSync(resolve(root, path), 'utf8')),
    )

    expect(readers.filter(path => layerOf(path) !== 'config' && path !== 'cli.ts')).toEqual([])
  })
})
