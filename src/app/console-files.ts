import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { ConsoleAsset, ConsoleFiles } from '../http/console/files.ts'

const BUILT = resolve(import.meta.dirname, '../../console/dist')

/**
 * Reads the built console into memory, so that a later build does not mix with it. Undefined in a working copy that was
 * not built; scripts/install.mjs builds it.
 */
export function consoleFiles(folder = BUILT): ConsoleFiles | undefined {
  const page = join(folder, 'index.html')
  if (!existsSync(page)) return undefined
  const assets = join(folder, 'assets')
  const names = new Set(readdirSync(assets))
  const read = (name: string) =>
    names.has(name) ? new Uint8Array(readFileSync(join(assets, name))) : undefined
  const found = new Map<string, ConsoleAsset>()
  for (const name of names) {
    const plain = /\.(?:gz|br)$/.test(name) ? undefined : read(name)
    if (plain !== undefined) found.set(name, { plain, gzip: read(`${name}.gz`), brotli: read(`${name}.br`) })
  }
  return { page: readFileSync(page, 'utf8'), assets: found }
}
