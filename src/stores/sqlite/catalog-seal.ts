import type { Database, Statement } from 'bun:sqlite'
import type { SealedRevision } from '../books/access/audit-log.ts'
import { CanonicalBytes } from '../books/canonical.ts'
import type { RevisionRow } from './catalog-history.ts'

type VersionRow = { id: string; position: bigint; content: string | null; sealed_secret: Uint8Array | null }
type SealRow = { revision: bigint; history_sha256: string }

const NO_SEAL = ''
const PROVIDER = 'provider'
const MODEL = 'model'
const PRICE_LIST = 'price_list'

/**
 * The seals of the revisions of the catalog. A seal is a SHA-256 over the seal before it and all rows of the revision,
 * with the stored keys as they are encrypted. The audit line of an edit has the seal of its revision, and commit hashes
 * cover the line. The first edit after the upgrade also seals the revisions before it.
 */
export class CatalogSeals {
  readonly #revisionsAfter: Statement<RevisionRow, [number | bigint]>
  readonly #providers: Statement<VersionRow, [bigint]>
  readonly #models: Statement<VersionRow, [bigint]>
  readonly #priceLists: Statement<VersionRow, [bigint]>
  readonly #sealBefore: Statement<SealRow, [number]>
  readonly #sealOf: Statement<SealRow, [bigint]>
  readonly #bytes = new CanonicalBytes()

  constructor(database: Database) {
    this.#revisionsAfter = database.prepare(
      'SELECT * FROM catalog_revisions WHERE revision > ? ORDER BY revision LIMIT 1',
    )
    this.#providers = database.prepare(
      'SELECT id, position, content, sealed_secret FROM provider_versions WHERE revision = ? ORDER BY id',
    )
    this.#models = database.prepare(
      'SELECT id, position, content, NULL AS sealed_secret FROM model_versions WHERE revision = ? ORDER BY id',
    )
    this.#priceLists = database.prepare(
      'SELECT id, position, content, NULL AS sealed_secret FROM price_list_versions WHERE revision = ? ORDER BY id',
    )
    const seals = 'SELECT revision, history_sha256 FROM audit_log WHERE'
    this.#sealBefore = database.prepare(`${seals} revision < ? ORDER BY revision DESC LIMIT 1`)
    this.#sealOf = database.prepare(`${seals} revision = ?`)
  }

  /** Inside a step: the seal of a revision whose rows are written, for its audit line. */
  seal(revision: number): SealedRevision {
    const before = this.#sealBefore.get(revision)
    let sha256 = before?.history_sha256 ?? NO_SEAL
    for (let row = this.after(before?.revision ?? 0n); row !== null; row = this.after(row.revision))
      sha256 = this.sealFrom(sha256, row)
    return { revision, sha256 }
  }

  /** The first revision after another one; null if there is none. */
  after(revision: bigint): RevisionRow | null {
    return this.#revisionsAfter.get(revision)
  }

  /** The seal that the audit line of a revision has; undefined if there is no such line. */
  stored(revision: bigint): string | undefined {
    return this.#sealOf.get(revision)?.history_sha256
  }

  sealFrom(before: string, { revision, actor, action, subject, at_ms }: RevisionRow): string {
    const hasher = new Bun.SHA256()
    const bytes = this.#bytes
    bytes.clear()
    bytes.addAll(['tollgate catalog 1', before, revision, actor, action, subject, at_ms])
    hasher.update(bytes.bytes)
    for (const [kind, rows] of [
      [PROVIDER, this.#providers.all(revision)],
      [MODEL, this.#models.all(revision)],
      // A revision without price lists has the seal that it had before there were any.
      [PRICE_LIST, this.#priceLists.all(revision)],
    ] as const) {
      for (const { id, position, content, sealed_secret } of rows) {
        bytes.clear()
        bytes.addAll([kind, id, position, content, sealed_secret])
        hasher.update(bytes.bytes)
      }
    }
    return hasher.digest('hex')
  }
}
