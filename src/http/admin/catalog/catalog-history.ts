import {
  revisionChanges,
  rowEdit,
  rowKinds,
  rowWords,
  type RowKind,
  type RowOf,
} from '../../../domain/catalog/catalog-changes.ts'
import { encodeModel } from '../../../domain/catalog/rows/model-row.ts'
import { quote } from '../../../domain/catalog/rows/row.ts'
import { encodePriceList } from '../../../domain/catalog/rows/price-list-row.ts'
import { encodeProvider } from '../../../domain/catalog/rows/provider-row.ts'
import { GatewayError } from '../../../domain/errors.ts'
import { instant } from '../../../domain/time.ts'
import { auditOf } from '../../../gateway/admin/operator.ts'
import { pageOf, rowsBefore } from '../../list-query.ts'
import type { BufferedReply } from '../../request-context.ts'
import { readFields, wrongField } from '../body.ts'
import { adminReply, type AdminCall } from '../call.ts'
import type { RowVersion } from '../../../gateway/ports/catalog.ts'
import type { CatalogPorts } from '../ports.ts'
import { found } from '../found.ts'
import { readAdminPage, revisionIn } from '../query.ts'
import { changesBody, fieldsBody, replaceCatalog } from './replace-catalog.ts'

/** An import can change thousands of rows, and a page has hundreds of revisions. */
const CHANGES_MAX = 100

/** One page of the revisions of the catalog, newest first. */
export async function getCatalogHistory(
  { query }: AdminCall,
  { catalog }: CatalogPorts,
): Promise<BufferedReply> {
  const asked = readAdminPage(query)
  const revisions = await catalog.history(rowsBefore(asked))
  return adminReply(
    pageOf(revisions, asked.limit, {
      cursorOf: ({ cursor }) => cursor,
      rowOf: ({ revision, actor, action, subject, atMs, changes }) => ({
        revision,
        actor,
        action,
        subject,
        at: instant(atMs),
        changes: changes.slice(0, CHANGES_MAX),
        change_count: changes.length,
      }),
    }),
  )
}

/** One page of the edits of one row, newest first, each with the row that it made. Secrets are not shown. */
export async function getRowHistory(
  { params, query }: AdminCall,
  { catalog }: CatalogPorts,
): Promise<BufferedReply> {
  const id = params['row'] ?? ''
  const kind = rowKinds.find(name => name === params['kind'])
  const kinds = rowKinds.join(', ')
  if (kind === undefined)
    throw new GatewayError('not_found', `There is no such kind of rows. The kinds are ${kinds}.`)
  const asked = readAdminPage(query)
  const versions = await catalog.versions({ kind, id }, rowsBefore(asked))
  if (versions.length === 0 && asked.cursor === undefined)
    throw new GatewayError('not_found', `The history has no ${rowWords[kind]} ${quote(id)}.`)
  return adminReply(
    pageOf(versions, asked.limit, {
      cursorOf: ({ cursor }) => cursor,
      rowOf: version => versionBody(kind, version),
    }),
  )
}

function versionBody<Kind extends RowKind>(kind: Kind, version: RowVersion<Kind>): object {
  const { revision, actor, action, subject, atMs, row, before } = version
  const { change, fields, losesKey } = rowEdit(kind, before, row)
  const encode: (row: RowOf[Kind]) => object = encoders[kind]
  return {
    revision,
    actor,
    action,
    subject,
    at: instant(atMs),
    change,
    fields: fieldsBody(fields),
    loses_key: losesKey,
    row: row === undefined ? null : encode(row),
  }
}

const encoders: { readonly [Kind in RowKind]: (row: RowOf[Kind]) => object } = {
  provider: encodeProvider,
  model: encodeModel,
  price_list: encodePriceList,
}

/** The rows that differ between two revisions: `?from=`, and `?to=`, which is the current one if it is absent. */
export async function getCatalogChanges(
  { query }: AdminCall,
  { catalog }: CatalogPorts,
): Promise<BufferedReply> {
  const to = revisionIn(query, 'to') ?? catalog.current().revision
  const from = revisionIn(query, 'from')
  if (from === undefined) throw wrongField('from', 'is missing; it must be the number of a revision')
  const read = async (revision: number) =>
    found(await catalog.at(revision), () => absenceSentence(revision, catalog))
  const changes = revisionChanges(await read(from), await read(to))
  return adminReply({ from, to, ...changesBody(changes) })
}

/**
 * Makes the catalog of an earlier revision the current one, as a new revision. Its stored keys come back too. Has the
 * query and the reply of `PUT catalog`.
 */
export async function postCatalogRollback(
  { request, query, actor }: AdminCall,
  ports: CatalogPorts,
): Promise<BufferedReply> {
  const { revision } = await readFields(request, ['revision'])
  if (typeof revision !== 'number' || !Number.isSafeInteger(revision) || revision < 1)
    throw wrongField('revision', 'must be the number of a revision')
  const settings = await ports.catalog.at(revision)
  if (settings === undefined) throw new GatewayError('not_found', absenceSentence(revision, ports.catalog))
  const subject = `revision ${revision}`
  const audit = auditOf({ actor, action: 'catalog.rollback', subject }, ports.clock)
  return replaceCatalog(settings, audit, { query, ports })
}

function absenceSentence(revision: number, catalog: CatalogPorts['catalog']): string {
  return `The history has no revision ${revision}. The catalog is at revision ${catalog.current().revision}.`
}
