import { join } from 'node:path'
import type { Role } from './console-gateway.ts'

/** An entry of the table of pages. */
export type TablePage = { readonly path: string; readonly roles?: readonly Role[] }

// The console is another program, with a TypeScript project of its own.
const file = join(import.meta.dirname, '../../../console/src/pages.ts')
const table = (await import(file)) as { readonly pages: readonly TablePage[] }

/** All pages of the console. */
export const tablePages: readonly TablePage[] = table.pages

export function sees(role: Role, { roles }: TablePage): boolean {
  return roles === undefined || roles.includes(role)
}

/** The address of a page without optional parameters. Throws if `ids` lacks one of the others. */
export function addressOf({ path }: TablePage, ids: ReadonlyMap<string, string>): string {
  return path.replaceAll(/\/:\w+\?/g, '').replaceAll(/:(\w+)/g, (_, name: string) => {
    const id = ids.get(name)
    if (id === undefined || id === '')
      throw new Error(`putHostileData has no "${name}" for the page ${path}. Add one.`)
    return encodeURIComponent(id)
  })
}
