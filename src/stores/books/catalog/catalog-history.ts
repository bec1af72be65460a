import type { CatalogSettings } from '../../../domain/catalog/catalog.ts'
import {
  rowKinds,
  type RowChange,
  type RowKind,
  type RowOf,
} from '../../../domain/catalog/catalog-changes.ts'
import { GatewayError } from '../../../domain/errors.ts'
import type { CatalogRevision, RowVersion } from '../../../gateway/ports/catalog.ts'
import type { Page } from '../../../gateway/ports/ledger/ledger-reports.ts'
import { cursorOf, readCursor, ROW_ID_MAX } from '../cursors.ts'
import type { SecretBox } from '../secrets/secret-box.ts'
import { all, first, type Step } from '../steps.ts'
import {
  readModelContent,
  readPriceListContent,
  readProvider,
  type ProviderContent,
} from './catalog-tables.ts'

/** A row of a table of versions that is in the catalog. */
type KeptVersion = { id: string; content: string; sealed_secret: Uint8Array | null }

export type RevisionRow = { revision: bigint; actor: string; action: string; subject: string; at_ms: bigint }

/** The revisions, newest first. */
export function* listRevisions({ limit, before }: Page, box: SecretBox): Step<readonly CatalogRevision[]> {
  const rows = yield* all<RevisionRow>(
    'SELECT * FROM catalog_revisions WHERE revision < ? ORDER BY revision DESC LIMIT ?',
    before === undefined ? ROW_ID_MAX : readCursor(before).value,
    limit,
  )
  const [newest, oldest] = [rows.at(0), rows.at(-1)]
  if (newest === undefined || oldest === undefined) return []
  const changes: (Pick<RowChange, 'kind' | 'id' | 'change'> & { readonly revision: bigint })[] = []
  for (const kind of rowKinds) {
    for (const version of yield* versionsBetween(kind, oldest.revision, newest.revision)) {
      const change = changeOf(version, box)
      if (change !== undefined) changes.push({ revision: version.revision, kind, id: version.id, change })
    }
  }
  const changesOf = Map.groupBy(changes, ({ revision }) => revision)
  return rows.map(row =>
    revisionFrom(
      row,
      (changesOf.get(row.revision) ?? []).map(({ kind, id, change }) => ({ kind, id, change })),
    ),
  )
}

/**
 * The catalog at a revision, with its stored keys. Undefined if there is no such revision. Throws `invalid_field` if
 * this version of the gateway cannot read a row of it.
 */
export function* catalogAt(revision: number, box: SecretBox): Step<CatalogSettings | undefined> {
  const begun = yield* first('SELECT revision FROM catalog_revisions WHERE revision = ?', revision)
  if (begun === undefined) return undefined
  const providers = yield* all<KeptVersion>(latestIn('provider_versions'), revision)
  const models = yield* all<KeptVersion>(latestIn('model_versions'), revision)
  const priceLists = yield* all<KeptVersion>(latestIn('price_list_versions'), revision)
  return readable('revision', () => ({
    providers: providers.map(row => readProvider(row, box)),
    models: models.map(readModelContent),
    priceLists: priceLists.map(readPriceListContent),
  }))
}

/** Throws `invalid_field` for a stored row that this version of the gateway cannot read. */
function readable<Value>(param: string, read: () => Value): Value {
  try {
    return read()
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new GatewayError('invalid_field', reason, { param })
  }
}

/** The versions of one row, newest first. */
export function* listVersions<Kind extends RowKind>(
  { kind, id }: { readonly kind: Kind; readonly id: string },
  { limit, before }: Page,
  box: SecretBox,
): Step<readonly RowVersion<Kind>[]> {
  // One more than the page has: what the last of them was before its edit.
  const rows = yield* all<SavedVersion & RevisionRow>(
    `SELECT id, revision, actor, action, subject, at_ms, content,
      ${kind === 'provider' ? 'sealed_secret' : 'NULL AS sealed_secret'}
    FROM ${kind}_versions JOIN catalog_revisions USING (revision)
    WHERE id = ? AND revision < ? ORDER BY revision DESC LIMIT ?`,
    id,
    before === undefined ? ROW_ID_MAX : readCursor(before).value,
    limit + 1,
  )
  return readable('id', () => {
    const read = readerOf(kind)
    const versions = rows.map(({ content, ...row }) =>
      content === null ? undefined : read({ ...row, content }, box),
    )
    return rows.slice(0, limit).map(({ revision, actor, action, subject, at_ms: atMs }, index) => ({
      revision: Number(revision),
      cursor: cursorOf(revision),
      actor,
      action,
      subject,
      atMs: Number(atMs),
      row: versions[index],
      before: versions[index + 1],
    }))
  })
}

/** Its content is null if the edit removed the row. */
type SavedVersion = Omit<ProviderContent, 'content'> & { content: string | null }

type ReadRow<Kind extends RowKind> = (row: ProviderContent, box: SecretBox) => RowOf[Kind]

const readers: { readonly [Kind in RowKind]: ReadRow<Kind> } = {
  provider: readProvider,
  model: readModelContent,
  price_list: readPriceListContent,
}

function readerOf<Kind extends RowKind>(kind: Kind): ReadRow<Kind> {
  return readers[kind]
}

/** For each id the latest version up to a revision, unless that removed the row. */
const latestIn = (table: string) => `SELECT * FROM ${table} AS version
  WHERE content IS NOT NULL AND revision = (
    SELECT max(revision) FROM ${table} WHERE id = version.id AND revision <= ?
  ) ORDER BY position`

/** The versions of rows of a kind in a range of revisions. */
function versionsBetween(kind: RowKind, from: bigint, to: bigint): Step<readonly ChangedVersion[]> {
  const table = `${kind}_versions`
  const secret = kind === 'provider' ? 'sealed_secret' : 'NULL AS sealed_secret'
  return all(
    `SELECT version.*, before.content AS content_before, before.sealed_secret AS secret_before
    FROM (SELECT id, revision, position, content, ${secret} FROM ${table}) AS version
    LEFT JOIN (SELECT id, revision, content, ${secret} FROM ${table}) AS before
      ON before.id = version.id AND before.revision =
        (SELECT max(revision) FROM ${table} WHERE id = version.id AND revision < version.revision)
    WHERE version.revision BETWEEN ? AND ? ORDER BY version.content IS NULL, version.position, version.id`,
    from,
    to,
  )
}

/** A version of a row, with the version before it. All members of that are null if there is none. */
type ChangedVersion = {
  id: string
  content: string | null
  sealed_secret: Uint8Array | null
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
