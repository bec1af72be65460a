import type { Database } from 'bun:sqlite'
import type { CatalogSettings } from '../../domain/catalog/catalog.ts'
import { rowKinds, type RowChange, type RowKind } from '../../domain/catalog/catalog-changes.ts'
import { GatewayError } from '../../domain/errors.ts'
import type { Audit } from '../../gateway/ports/audit.ts'
import type { CatalogRevision } from '../../gateway/ports/catalog.ts'
import type { Page } from '../../gateway/ports/ledger-reports.ts'
import { cursorOf, readCursor, ROW_ID_MAX } from '../books/cursors.ts'
import { readModelContent, readPriceListContent, readProvider } from './catalog-tables.ts'
import type { SecretBox } from '../books/secrets/secret-box.ts'

/** A row of a table of versions. */
type Version = { id: string; position: number; content: string | null }
type ProviderVersion = Version & { sealed_secret: Uint8Array | null }

export type CatalogHistory = {
  /** Inside a step: begins a revision. Its rows follow. */
  begin(revision: number, audit: Audit): void
  /** Inside a step: adds a row that the revision changed. Without content, the revision removed the row. */
  addProvider(revision: number, version: ProviderVersion): void
  addModel(revision: number, version: Version): void
  addPriceList(revision: number, version: Version): void
  /** The revisions, newest first. */
  list(page: Page): readonly CatalogRevision[]
  /**
   * The catalog at a revision, with its stored keys. Undefined if there is no such revision. Throws `invalid_field` if
   * this version of the gateway cannot read a row of it.
   */
  at(revision: number): CatalogSettings | undefined
}

/** For each id the latest version up to a revision, unless that removed the row. */
const latestIn = (table: string) => `SELECT * FROM ${table} AS version
  WHERE content IS NOT NULL AND revision = (
    SELECT max(revision) FROM ${table} WHERE id = version.id AND revision <= ?
  ) ORDER BY position`

export type RevisionRow = { revision: bigint; actor: string; action: string; subject: string; at_ms: bigint }

export function catalogHistory(database: Database, box: SecretBox): CatalogHistory {
  const insert = database.prepare(
    'INSERT INTO catalog_revisions (revision, actor, action, subject, at_ms) VALUES (?, ?, ?, ?, ?)',
  )
  const insertProvider = database.prepare(
    'INSERT INTO provider_versions (id, revision, position, content, sealed_secret) VALUES (?, ?, ?, ?, ?)',
  )
  const insertModel = database.prepare(
    'INSERT INTO model_versions (id, revision, position, content) VALUES (?, ?, ?, ?)',
  )
  const insertPriceList = database.prepare(
    'INSERT INTO price_list_versions (id, revision, position, content) VALUES (?, ?, ?, ?)',
  )
  const select = database.prepare<RevisionRow, [bigint, number]>(
    'SELECT * FROM catalog_revisions WHERE revision < ? ORDER BY revision DESC LIMIT ?',
  )
  const selectOne = database.prepare<RevisionRow, [number]>(
    'SELECT * FROM catalog_revisions WHERE revision = ?',
  )
  const providersAt = database.prepare<ProviderVersion & { content: string }, [number]>(
    latestIn('provider_versions'),
  )
  const modelsAt = database.prepare<Version & { content: string }, [number]>(latestIn('model_versions'))
  const priceListsAt = database.prepare<Version & { content: string }, [number]>(
    latestIn('price_list_versions'),
  )

  const changesOfKinds = rowKinds.map(kind => changesIn(kind, database, box))

  return {
    begin: (revision, { actor, action, subject, atMs }) =>
      void insert.run(revision, actor, action, subject, atMs),
    addProvider: (revision, { id, position, content, sealed_secret }) =>
      void insertProvider.run(id, revision, position, content, sealed_secret),
    addModel: (revision, { id, position, content }) => void insertModel.run(id, revision, position, content),
    addPriceList: (revision, { id, position, content }) =>
      void insertPriceList.run(id, revision, position, content),
    list({ limit, before }) {
      const rows = select.all(before === undefined ? ROW_ID_MAX : readCursor(before).value, limit)
      const [newest, oldest] = [rows.at(0), rows.at(-1)]
      if (newest === undefined || oldest === undefined) return []
      const range = [Number(oldest.revision), Number(newest.revision)] as const
      const changes = Map.groupBy(
        changesOfKinds.flatMap(changes => changes(...range)),
        row => row.revision,
      )
      return rows.map(row =>
        revisionFrom(
          row,
          (changes.get(Number(row.revision)) ?? []).map(({ kind, id, change }) => ({ kind, id, change })),
        ),
      )
    },
    at(revision) {
      if (selectOne.get(revision) === null) return undefined
      try {
        return {
          providers: providersAt.all(revision).map(row => readProvider(row, box)),
          models: modelsAt.all(revision).map(readModelContent),
          priceLists: priceListsAt.all(revision).map(readPriceListContent),
        }
      } catch (cause) {
        const reason = cause instanceof Error ? cause.message : String(cause)
        throw new GatewayError('invalid_field', reason, { param: 'revision' })
      }
    },
  }
}

/** Reads the changes of rows of a kind in a range of revisions. */
function changesIn(kind: RowKind, database: Database, box: SecretBox) {
  const table = `${kind}_versions`
  const secret = kind === 'provider' ? 'sealed_secret' : 'NULL AS sealed_secret'
  const find = database.prepare<ChangedVersion, [number, number]>(
    `SELECT version.*, before.content AS content_before, before.sealed_secret AS secret_before
    FROM (SELECT id, revision, position, content, ${secret} FROM ${table}) AS version
    LEFT JOIN (SELECT id, revision, content, ${secret} FROM ${table}) AS before
      ON before.id = version.id AND before.revision =
        (SELECT max(revision) FROM ${table} WHERE id = version.id AND revision < version.revision)
    WHERE version.revision BETWEEN ? AND ? ORDER BY version.content IS NULL, version.position, version.id`,
  )
  return (first: number, last: number) =>
    find.all(first, last).flatMap(version => {
      const change = changeOf(version, box)
      return change === undefined
        ? []
        : [{ revision: Number(version.revision), kind, id: version.id, change }]
    })
}

/** A version of a row, with the version before it. All members of that are null if there is none. */
type ChangedVersion = ProviderVersion & {
  readonly revision: bigint
  readonly content_before: string | null
  readonly secret_before: Uint8Array | null
}

/** Undefined if the row only moved: then its content and its key are the same. */
function changeOf(version: ChangedVersion, box: SecretBox): RowChange['change'] | undefined {
  const { id, content, content_before: before, sealed_secret: secret, secret_before: secretBefore } = version
  if (content === null) return 'removed'
  if (before === null) return 'added'
  const keyOf = (sealed: Uint8Array | null) => (sealed === null ? undefined : box.open(sealed, id))
  return content === before && keyOf(secret) === keyOf(secretBefore) ? undefined : 'changed'
}

function revisionFrom(
  { revision, actor, action, subject, at_ms }: RevisionRow,
  changes: CatalogRevision['changes'],
): CatalogRevision {
  return {
    revision: Number(revision),
    changes,
    cursor: cursorOf(revision),
    actor,
    action,
    subject,
    atMs: Number(at_ms),
  }
}
