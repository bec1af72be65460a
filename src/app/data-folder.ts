import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileReason } from '../config/file-reason.ts'

/** The files of a data folder. Only the user that runs the gateway can read them. */
export type DataFolder = {
  readonly path: string
  readonly database: string
  /** The records of requests. They are no part of the books, nor of a backup. */
  readonly requests: string
  /** The folder had no database when it was opened, so its books are new. */
  readonly isNew: boolean
  /** The anchor, unless a setting puts it elsewhere. */
  readonly anchor: string
  /** Whether there is a key that encrypts provider secrets. */
  readonly hasSecretKey: boolean
  /** The files of media jobs. */
  readonly blobs: string
  /**
   * The key that encrypts provider secrets. A new key is written only by `keep`, so that a command that only reads
   * leaves the folder of a restored backup without one. Repeated calls return the same key.
   */
  secretKey(): { readonly bytes: Uint8Array; readonly isNew: boolean; keep(): void }
  /** The admin key. A new key is written only by `keep`, so that a failed start leaves no key that was never shown. */
  adminKey(): { readonly key: string; readonly isNew: boolean; keep(): void }
  /** Writes the address of the running server, so that commands find it. The returned function removes it. */
  announce(server: { readonly url: string; readonly pid: number }): () => void
}

const PRIVATE = 0o600
const SECRET_KEY_BYTES = 32
const ADMIN_KEY_BYTES = 24

/** The files above, the files that SQLite creates beside them, and the folders of a restore. */
const OWN_NAME =
  /^((tollgate\.db|requests\.sqlite|lock\.db|secret\.key|admin\.key|anchor\.json|server\.json).*|blobs|restore\..*|replaced-.*|)$/i

/**
 * Whether a file or a folder of that name in a data folder belongs to the gateway. The empty name is the data folder
 * itself.
 */
export function isOwnName(name: string): boolean {
  return OWN_NAME.test(name)
}

/** Opens a data folder, and creates it if it does not exist. Throws an error with a sentence for the operator. */
export function openDataFolder(dataDir: string): DataFolder {
  const path = resolve(dataDir)
  makeFolder(path)
  const file = (name: string) => join(path, name)
  let newKey: ReturnType<DataFolder['secretKey']> | undefined
  return {
    path,
    database: file('tollgate.db'),
    requests: file('requests.sqlite'),
    isNew: !existsSync(file('tollgate.db')),
    anchor: file('anchor.json'),
    blobs: file('blobs'),
    hasSecretKey: existsSync(file('secret.key')),
    secretKey: () => {
      if (!existsSync(file('secret.key'))) return (newKey ??= newSecretKey(file('secret.key')))
      const bytes = Buffer.from(readFileSync(file('secret.key'), 'utf8'), 'base64')
      if (bytes.byteLength === SECRET_KEY_BYTES) return { bytes, isNew: false, keep() {} }
      throw new Error(
        `${file('secret.key')} does not contain ${SECRET_KEY_BYTES} bytes in base64. Restore it from a backup.`,
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

function newSecretKey(path: string): ReturnType<DataFolder['secretKey']> {
  const bytes = randomBytes(SECRET_KEY_BYTES)
  let isKept = false
  return {
    bytes,
    isNew: true,
    keep() {
      if (!isKept) writeWhole(path, bytes.toString('base64'))
      isKept = true
    },
  }
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
  } catch (cause) {
    throw new Error(
      `The data folder ${path} cannot be created: ${fileReason(cause)}. Set TOLLGATE_DATA_DIR to another path.`,
      { cause },
    )
  }
}

/** Throws for an empty key, which would open the admin API to everyone. */
function readKey(path: string): string {
  const key = readFileSync(path, 'utf8').trim()
  if (key !== '') return key
  throw new Error(`${path} is empty. Delete it; the next start creates another key.`)
}

/** Writes the file atomically. A crash leaves the old file or none. */
function writeWhole(path: string, text: string): void {
  writeFileSync(`${path}.new`, `${text}\n`, { mode: PRIVATE, flush: true })
  renameSync(`${path}.new`, path)
}
