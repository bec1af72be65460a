import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Has the address of the running server. Absent if no server runs on the data folder. */
const SERVER_FILE = 'server.json'
const ADMIN_KEY_FILE = 'admin.key'

export type RunningServer = { readonly url: string; readonly pid: number }

/** Reads the file of the last server, which may have died without removing it. */
export function readServerFile(dataDir: string): RunningServer | undefined {
  const text = readIfThere(join(dataDir, SERVER_FILE))
  if (text === undefined) return undefined
  try {
    const { url, pid } = JSON.parse(text) as Partial<RunningServer>
    return typeof url === 'string' && URL.canParse(url) && typeof pid === 'number' ? { url, pid } : undefined
  } catch {
    return undefined
  }
}

/** The admin key that the first start created. Undefined if the operator set one. */
export function readAdminKey(dataDir: string): string | undefined {
  return readIfThere(join(dataDir, ADMIN_KEY_FILE))?.trim()
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
