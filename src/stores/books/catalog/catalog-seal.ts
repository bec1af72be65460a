import type { SealedRevision } from '../access/audit-log.ts'
import { CanonicalBytes } from '../rows/canonical.ts'
import type { Hashes } from '../rows/commit-rows.ts'
import { all, first, type Step } from '../steps.ts'
import type { RevisionRow } from './catalog-history.ts'

type SealedVersion = {
  id: string
  position: bigint
  content: string | null
  sealed_secret: Uint8Array | null
}
type SealRow = { revision: bigint; history_sha256: string }

/** The seal before the first revision. */
export const NO_SEAL = ''
const SHA256_BYTES = 32

/**
 * The seals of the revisions of the catalog. A seal is a SHA-256 over the seal before it and all rows of the revision,
 * with the stored keys as they are encrypted. The audit line of an edit has the seal of its revision, and commit hashes
 * cover the line. The first edit after the upgrade also seals the revisions before it.
 */
export class CatalogSeals {
  readonly #hashes: Pick<Hashes, 'newSha256'>
  readonly #bytes = new CanonicalBytes()

  constructor(hashes: Pick<Hashes, 'newSha256'>) {
    this.#hashes = hashes
  }

  /** The seal of a revision whose rows are written, for its audit line. */
  *seal(revision: number): Step<SealedRevision> {
    const before = yield* first<SealRow>(
      'SELECT revision, history_sha256 FROM audit_log WHERE revision < ? ORDER BY revision DESC LIMIT 1',
      revision,
    )
    let sha256 = before?.history_sha256 ?? NO_SEAL
    let row = yield* this.after(before?.revision ?? 0n)
    for (; row !== undefined; row = yield* this.after(row.revision))
      sha256 = yield* this.sealFrom(sha256, row)
    return { revision, sha256 }
  }

  /** The first revision after another one, if there is one. */
  after(revision: bigint): Step<RevisionRow | undefined> {
    return first('SELECT * FROM catalog_revisions WHERE revision > ? ORDER BY revision LIMIT 1', revision)
  }

  /** The seal that the audit line of a revision has; undefined if there is no such line. */
  *stored(revision: bigint): Step<string | undefined> {
    const row = yield* first<SealRow>(
      'SELECT revision, history_sha256 FROM audit_log WHERE revision = ? ORDER BY id LIMIT 1',
      revision,
    )
    return row?.history_sha256
  }

  *sealFrom(before: string, { revision, actor, action, subject, at_ms }: RevisionRow): Step<string> {
    const versions = [
      ['provider', yield* versionsOf('provider_versions', revision)],
      ['model', yield* versionsOf('model_versions', revision)],
      // A revision without price lists has the seal that it had before there were any.
      ['price_list', yield* versionsOf('price_list_versions', revision)],
    ] as const
    const hasher = this.#hashes.newSha256()
    const bytes = this.#bytes
    bytes.clear()
    bytes.addAll(['tollgate catalog 1', before, revision, actor, action, subject, at_ms])
    hasher.update(bytes.bytes)
    for (const [kind, rows] of versions) {
      for (const { id, position, content, sealed_secret } of rows) {
        bytes.clear()
        bytes.addAll([kind, id, position, content, sealed_secret])
        hasher.update(bytes.bytes)
      }
    }
    const digest = new Uint8Array(SHA256_BYTES)
    hasher.digest(digest)
    return digest.toHex()
  }
}

/** In the order of their ids by bytes. A database may order texts otherwise. The ids are different. */
function* versionsOf(table: string, revision: bigint): Step<readonly SealedVersion[]> {
  const secret = table === 'provider_versions' ? 'sealed_secret' : 'NULL AS sealed_secret'
  const rows = yield* all<SealedVersion>(
    `SELECT id, position, content, ${secret} FROM ${table} WHERE revision = ?`,
    revision,
  )
  return rows.toSorted((left, right) => compareBytes(left.id, right.id))
}

const encoder = new TextEncoder()

function compareBytes(left: string, right: string): number {
  const other = encoder.encode(right)
  for (const [index, byte] of encoder.encode(left).entries()) {
    const difference = byte - (other[index] ?? -1)
    if (difference !== 0) return difference
  }
  return -1
}
