import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** The files of a data folder. They can be read only by the user the gateway runs as. */
export type DataFolder = {
  readonly path: string
  readonly database: string
  /** Under which provider secrets are encrypted. Made where there is none. */
  secretKey(): { readonly bytes: Uint8Array; readonly isNew: boolean }
  /** The key of the admin API. `isNew` until `keep` has written it, so that a start which fails leaves none that nobody was shown. */
  adminKey(): { readonly key: string; readonly isNew: boolean; keep(): void }
  /** Says where the running server listens, so that commands find it; removed by the returned function. */
  announce(server: { readonly url: string; readonly pid: number }): () => void
}

const PRIVATE = 0o600
const SECRET_KEY_BYTES = 32
const ADMIN_KEY_BYTES = 24

/** Opens a data folder and makes it where it is absent. Throws, with a sentence for the operator, where that cannot be. */
export function openDataFolder(dataDir: string): DataFolder {
  const path = resolve(dataDir)
  makeFolder(path)
  const file = (name: string) => join(path, name)
  return {
    path,
    database: file('tollgate.db'),
    secretKey: () => {
      const isNew = !existsSync(file('secret.key'))
      if (isNew) writeWhole(file('secret.key'), randomBytes(SECRET_KEY_BYTES).toString('base64'))
      const bytes = Buffer.from(readFileSync(file('secret.key'), 'utf8'), 'base64')
      if (bytes.byteLength === SECRET_KEY_BYTES) return { bytes, isNew }
      throw new Error(
        `${file('secret.key')} does not hold ${SECRET_KEY_BYTES} bytes in base64. Restore it from a backup.`,
      )
    },
    adminKey: () => {
      if (existsSync(file('admin.key'))) return { key: readKey(file('admin.key')), isNew: false, keep() {} }
      const key = `tg_admin_${randomBytes(ADMIN_KEY_BYTES).toString('base64url')}`
      return { key, isNew: true, keep: () => writeWhole(file('admin.key'), key) }
    },
    announce: server => {
      writeWhole(file('server.json'), JSON.stringify(server))
      return () => rmSync(file('server.json'), { force: true })
    },
  }
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`The data folder cannot be made. Set TOLLGATE_DATA_DIR to another place. (${reason})`, {
      cause,
    })
  }
}

/** An empty key would open the admin API to everybody. */
function readKey(path: string): string {
  const key = readFileSync(path, 'utf8').trim()
  if (key !== '') return key
  throw new Error(`${path} is empty. Delete it, and the next start makes another key.`)
}

/** Never leaves half a file behind: a crash leaves the old one, or none. */
function writeWhole(path: string, text: string): void {
  writeFileSync(`${path}.new`, `${text}\n`, { mode: PRIVATE, flush: true })
  renameSync(`${path}.new`, path)
}
