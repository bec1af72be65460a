import type { Database } from 'bun:sqlite'
import type { Finding } from '../../books/verify/findings.ts'
import { CatalogSeals } from '../catalog-seal.ts'

const ROWS_A_TURN = 64

/**
 * Each revision of the catalog must have the seal of its audit line, and the catalog must be what its history says. (A
 * revision of an earlier version has no seal until the next edit seals it.)
 */
export function* checkCatalog(database: Database): Generator<readonly Finding[]> {
  yield* checkRevisions(database)
  yield checkState(database)
  yield* checkRows(database, {
    kind: 'Provider',
    current: PROVIDERS,
    versions: 'provider_versions',
    table: 'providers',
  })
  yield* checkRows(database, { kind: 'Model', current: MODELS, versions: 'model_versions', table: 'models' })
  yield* checkRows(database, {
    kind: 'Price list',
    current: PRICE_LISTS,
    versions: 'price_list_versions',
    table: 'price_lists',
  })
}

/** One revision a turn: its rows never change after its commit. */
function* checkRevisions(database: Database): Generator<readonly Finding[]> {
  const seals = new CatalogSeals(database)
  let before = ''
  let isSealed = false
  for (let row = seals.after(0n); row !== null; row = seals.after(row.revision)) {
    const sha256 = seals.sealFrom(before, row)
    const stored = seals.stored(row.revision)
    const name = `Revision ${row.revision} of the catalog`
    if (stored === undefined) {
      yield isSealed ? [finding(`${name} was inserted: there is no audit line of it.`)] : []
      if (!isSealed) before = sha256
      continue
    }
    const earlier = isSealed ? '' : ', or an earlier one,'
    yield stored === sha256 ? [] : [finding(`${name}${earlier} was changed after it was written.`)]
    // The stored one, so that a change is reported once.
    before = stored
    isSealed = true
  }
}

type CatalogEnds = {
  revision: bigint
  updated_at_ms: bigint
  newest: bigint | null
  at_ms: bigint | null
  /** A revision that has an audit line or versions, but no row of its own. */
  lost: bigint | null
}

function checkState(database: Database): readonly Finding[] {
  const state = database.query<CatalogEnds, []>(STATE).get()
  if (state === null) return [finding('The state of the catalog is missing.')]
  const { revision, updated_at_ms, newest, at_ms, lost } = state
  const found: Finding[] = []
  if (lost !== null) found.push(finding(`Revision ${lost} of the catalog is missing.`))
  if (newest !== null && revision !== newest)
    found.push(finding(`The catalog is at revision ${revision}, but its newest revision is ${newest}.`))
  else if (at_ms !== null && updated_at_ms !== at_ms)
    found.push(
      finding(`The time of the last change of the catalog differs from that of its newest revision.`),
    )
  return found
}

type ComparedRow = { id: string; is_there: bigint; is_same: bigint | null; is_kept: bigint | null }
type Rows = {
  readonly kind: string
  /** SQL for whether the row of an id is the same as its latest version. */
  readonly current: string
  readonly versions: string
  readonly table: string
}

function* checkRows(
  database: Database,
  { kind, current, versions, table }: Rows,
): Generator<readonly Finding[]> {
  const select = database.prepare<ComparedRow, [string, number]>(
    `WITH ids AS (SELECT id FROM ${table} UNION SELECT id FROM ${versions})
      SELECT ids.id, row.id IS NOT NULL AS is_there, ${current} AS is_same, latest.content IS NOT NULL AS is_kept
      FROM ids LEFT JOIN ${table} AS row ON row.id = ids.id
        LEFT JOIN ${versions} AS latest ON latest.id = ids.id
          AND latest.revision = (SELECT max(revision) FROM ${versions} WHERE id = ids.id)
      WHERE ids.id > ? ORDER BY ids.id LIMIT ?`,
  )
  let last = ''
  for (;;) {
    const rows = select.all(last, ROWS_A_TURN)
    yield rows.flatMap(({ id, is_there, is_same, is_kept }) => {
      if (is_there === 0n)
        return is_kept === 1n
          ? [finding(`${kind} "${id}" is missing, but the history of the catalog has it.`)]
          : []
      return is_same === 1n ? [] : [finding(`${kind} "${id}" is not what the history of the catalog says.`)]
    })
    last = rows.at(-1)?.id ?? last
    if (rows.length < ROWS_A_TURN) return
  }
}

/** A wrong price concerns all accounts. */
function finding(message: string): Finding {
  return { accountId: null, entryId: null, message: [message] }
}

const PROVIDERS =
  'row.content IS latest.content AND row.position IS latest.position AND row.sealed_secret IS latest.sealed_secret'

/** A model keeps the time of its first revision since it was last removed. Earlier versions did not record that one. */
const MODELS = `row.content IS latest.content AND row.position IS latest.position AND (
    SELECT first.action = 'history.begin' OR first.at_ms = row.created_at_ms FROM catalog_revisions AS first
      WHERE first.revision = (SELECT min(revision) FROM model_versions WHERE id = row.id AND revision >
        ifnull((SELECT max(revision) FROM model_versions WHERE id = row.id AND content IS NULL), 0)))`

const PRICE_LISTS = 'row.content IS latest.content AND row.position IS latest.position'

const STATE = `SELECT catalog_state.revision, updated_at_ms, newest.revision AS newest, newest.at_ms,
    (SELECT min(revision) FROM (
      SELECT revision FROM audit_log WHERE revision IS NOT NULL
      UNION SELECT revision FROM provider_versions UNION SELECT revision FROM model_versions
      UNION SELECT revision FROM price_list_versions)
      WHERE revision NOT IN (SELECT revision FROM catalog_revisions)) AS lost
  FROM catalog_state LEFT JOIN catalog_revisions AS newest
    ON newest.revision = (SELECT max(revision) FROM catalog_revisions)`
