import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const modules = resolve(import.meta.dirname, '../../node_modules')
/** The only group whose name is not in `apiVersion`. */
const CORE = 'core'
const OPTIONS = { strict: true, noEmit: true, skipLibCheck: true, types: [], module: 'Preserve' } as const

export type Resource = { readonly apiVersion: string; readonly kind: string; readonly metadata: object }

/**
 * What is wrong with each of these resources by the schema of Kubernetes: fields that are unknown, missing or of
 * another type. `kubernetes-types` has that schema as types. A resource is written as a literal of its type, so that
 * the compiler refuses a field that the type does not have.
 */
export async function schemaProblems(resources: readonly object[]): Promise<readonly (readonly string[])[]> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-kubernetes-'))
  try {
    for (const [index, resource] of resources.entries())
      writeFileSync(join(folder, `${index}.ts`), sourceOf(resource as Resource))
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: OPTIONS }))
    const compiler = join(modules, '.bin/tsc')
    const child = Bun.spawn([compiler, '--pretty', 'false'], { cwd: folder, stdout: 'pipe' })
    const output = await new Response(child.stdout).text()
    if ((await child.exited) !== 0 && !/^\d+\.ts/m.test(output)) throw new Error(output)
    return resources.map((_, index) => output.split('\n').filter(line => line.startsWith(`${index}.ts`)))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function sourceOf(resource: Resource): string {
  const { apiVersion, kind } = resource
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : [CORE, apiVersion]
  const types = join(modules, 'kubernetes-types', group!, `${version}.d.ts`)
  return `import type { ${kind} } from ${JSON.stringify(types)}
export const resource: ${kind} = ${JSON.stringify(resource, null, 2)}
`
}
