import { globSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { expect, test } from 'bun:test'
import { parseSync, type Declaration, type EcmaScriptModule } from 'oxc-parser'

const root = resolve(import.meta.dirname, '..')

/** Everything that can import a file of `src/`. */
const files = globSync('{src,test,bench,scripts,examples}/**/*.ts', { cwd: root })

/** What a file exports, and the text in which others meet its types: signatures and the shapes of other types. */
type Exports = {
  readonly names: readonly string[]
  readonly types: ReadonlySet<string>
  readonly shown: string
}

test('Every export of src/ is imported by another file, or is a type in an exported signature', () => {
  const imported = new Set<string>()
  const exported = new Map<string, Exports>()
  for (const path of files) {
    const code = readFileSync(join(root, path), 'utf8')
    const { module, program } = parseSync(path, code)
    for (const name of importsOf(path, module, code)) imported.add(name)
    if (isSource(path)) exported.set(path, exportsOf(program.body, code))
  }

  const unused = [...exported].flatMap(([path, { names, types, shown }]) =>
    imported.has(`${path} *`)
      ? []
      : names
          .filter(name => !imported.has(`${path} ${name}`))
          .filter(name => !types.has(name) || !isShown(name, shown))
          .map(name => `${path}: ${name}`),
  )

  expect(unused).toEqual([])
})

/** The path and the name of each import, such as `src/domain/money.ts usd`. The name is `*` if a file imports all. */
function importsOf(path: string, { staticImports, staticExports }: EcmaScriptModule, code: string): string[] {
  const at = (specifier: string, name: string | null) =>
    specifier.startsWith('.') ? [`${join(dirname(path), specifier)} ${name ?? '*'}`] : []
  return [
    ...staticImports.flatMap(({ moduleRequest, entries }) =>
      entries.flatMap(({ importName }) => at(moduleRequest.value, importName.name)),
    ),
    ...staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest, importName }) =>
        moduleRequest === null ? [] : at(moduleRequest.value, importName.name),
      ),
    ),
    ...Array.from(code.matchAll(/\bimport\(\s*'([^']+)'\s*,?\s*\)/g), ([, specifier = '']) =>
      at(specifier, null),
    ).flat(),
  ]
}

/** Without tests, which check some types by exporting them. */
function isSource(path: string): boolean {
  return path.startsWith('src/') && !path.endsWith('.test.ts')
}

function exportsOf(body: ReturnType<typeof parseSync>['program']['body'], code: string): Exports {
  const names: string[] = []
  const types = new Set<string>()
  let shown = ''
  for (const node of body) {
    if (node.type !== 'ExportNamedDeclaration' || node.declaration === null) continue
    const { declaration } = node
    const declared = namesOf(declaration)
    names.push(...declared)
    if (declaration.type === 'TSTypeAliasDeclaration' || declaration.type === 'TSInterfaceDeclaration')
      for (const name of declared) types.add(name)
    shown += `\n${signatureOf(declaration, code)}`
  }
  return { names, types, shown }
}

function namesOf(declaration: Declaration): string[] {
  if (declaration.type === 'VariableDeclaration')
    return declaration.declarations.flatMap(({ id }) => (id.type === 'Identifier' ? [id.name] : []))
  return 'id' in declaration && declaration.id?.type === 'Identifier' ? [declaration.id.name] : []
}

/** A function without its body, and anything else as it is. */
function signatureOf(declaration: Declaration, code: string): string {
  const end =
    declaration.type === 'FunctionDeclaration' && declaration.body !== null
      ? declaration.body.start
      : declaration.end
  return code.slice(declaration.start, end)
}

/** Whether the text has the name of a type once more than in its declaration. */
function isShown(name: string, shown: string): boolean {
  return shown.split(new RegExp(`\\b${name}\\b`)).length > 2
}
