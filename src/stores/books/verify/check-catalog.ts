import { CatalogSeals, NO_SEAL } from '../catalog/catalog-seal.ts'
import type { RevisionRow } from '../catalog/catalog-history.ts'
import type { Hashes } from '../rows/commit-rows.ts'
import { all, first, type StepRunner, type Step } from '../steps.ts'
import type { Finding } from './findings.ts'

const ROWS_A_PIECE = 64

/**
 * Each revision of the catalog must have the seal of its audit line, and the catalog must be what its history says. (A
 * revision of an earlier version has no seal until the next edit seals it.)
 */
export async function* checkCatalog(
  read: StepRunner['read'],
  hashes: Pick<Hashes, 'newSha256'>,
): AsyncGenerator<readonly Finding[]> {
  yield* checkRevisions(read, new CatalogSeals(hashes))
  yield await read(checkState)
  yield* checkRows(read, {
    kind: 'Provider',
    current: PROVIDERS,
    versions: 'provider_versions',
    table: 'providers',
  })
  yield* checkRows(read, { kind: 'Model', current: MODELS, versions: 'model_versions', table: 'models' })
  yield* checkRows(read, {
    kind: 'Price list',
    current: PRICE_LISTS,
    versions: 'price_list_versions',
    table: 'price_lists',
  })
}

type SealedPlace = {
  readonly row: RevisionRow
  /** The seal that the revision should have. */
  readonly sha256: string
  /** The seal of its audit line, if there is one. */
  readonly stored: string | undefined
}

/** One revision a piece: its rows never change after its commit. */
async function* checkRevisions(
  read: StepRunner['read'],
  seals: CatalogSeals,
): AsyncGenerator<readonly Finding[]> {
  let before = NO_SEAL
  let isSealed = false
  for (let last = 0n; ;) {
    const place = await read(() => placeAfter(last, before, seals))
    if (place === undefined) return
    const { row, sha256, stored } = place
    last = row.revision
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

function* placeAfter(revision: bigint, before: string, seals: CatalogSeals): Step<SealedPlace | undefined> {
  const row = yield* seals.after(revision)
  if (row === undefined) return undefined
  const sha256 = yield* seals.sealFrom(before, row)
  return { row, sha256, stored: yield* seals.stored(row.revision) }
}

type CatalogEnds = {
  revision: bigint
  updated_at_ms: bigint
  newest: bigint | null
  at_ms: bigint | null
  /** A revision that has an audit line or versions, but no row of its own. */
  lost: bigint | null
}

function* checkState(): Step<readonly Finding[]> {
  const state = yield* first<CatalogEnds>(STATE)
  if (state === undefined) return [finding('The state of the catalog is missing.')]
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

async function* checkRows(
  read: StepRunner['read'],
  { kind, current, versions, table }: Rows,
): AsyncGenerator<readonly Finding[]> {
  const select = `WITH ids AS (SELECT id FROM ${table} UNION SELECT id FROM ${versions})
      SELECT ids.id, stored.id IS NOT NULL AS is_there, ${current} AS is_same, latest.content IS NOT NULL AS is_kept
      FROM ids LEFT JOIN ${table} AS stored ON stored.id = ids.id
        LEFT JOIN ${versions} AS latest ON latest.id = ids.id
          AND latest.revision = (SELECT max(revision) FROM ${versions} WHERE id = ids.id)
      WHERE ids.id > ? ORDER BY ids.id LIMIT ?`
  let last = ''
  for (;;) {
    const rows = await read(() => all<ComparedRow>(select, last, ROWS_A_PIECE))
    yield rows.flatMap(({ id, is_there, is_same, is_kept }) => {
      if (is_there === 0n)
        return is_kept === 1n
          ? [finding(`${kind} "${id}" is missing, but the history of the catalog has it.`)]
          : []
      return is_same === 1n ? [] : [finding(`${kind} "${id}" is not what the history of the catalog says.`)]
    })
    last = rows.at(-1)?.id ?? last
    if (rows.length < ROWS_A_PIECE) return
  }
}

/** A wrong price concerns all accounts. */
function finding(message: string): Finding {
  return { accountId: null, entryId: null, message: [message] }
}

const SAME_ROW =
  'stored.content IS NOT DISTINCT FROM latest.content AND stored.position IS NOT DISTINCT FROM latest.position'

const PROVIDERS = `${SAME_ROW} AND stored.sealed_secret IS NOT DISTINCT FROM latest.sealed_secret`

/** A model keeps the time of its first revision since it was last removed. Earlier versions did not record that one. */
const MODELS = `${SAME_ROW} AND (
    SELECT begun.action = 'history.begin' OR begun.at_ms = stored.created_at_ms FROM catalog_revisions AS begun
      WHERE begun.revision = (SELECT min(revision) FROM model_versions WHERE id = stored.id AND revision >
        coalesce((SELECT max(revision) FROM model_versions WHERE id = stored.id AND content IS NULL), 0)))`

const PRICE_LISTS = SAME_ROW

const STATE = `SELECT catalog_state.revision, updated_at_ms, newest.revision AS newest, newest.at_ms,
    (SELECT min(revision) FROM (
      SELECT revision FROM audit_log WHERE revision IS NOT NULL
      UNION SELECT revision FROM provider_versions UNION SELECT revision FROM model_versions
      UNION SELECT revision FROM price_list_versions) AS named
      WHERE revision NOT IN (SELECT revision FROM catalog_revisions)) AS lost
  FROM catalog_state LEFT JOIN catalog_revisions AS newest
    ON newest.revision = (SELECT max(revision) FROM catalog_revisions)`
