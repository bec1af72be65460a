import type { Catalog } from '../../../domain/catalog/catalog.ts'
import type { PriceList } from '../../../domain/catalog/price-list.ts'
import { priceChanges, type PriceChange } from '../../../domain/catalog/price-preview.ts'
import {
  decodePriceList,
  encodePriceList,
  kindsOf,
  refuseUnfitPrices,
} from '../../../domain/catalog/rows/price-list-row.ts'
import { rowsRefusal, type RowProblem } from '../../../domain/catalog/rows/problem.ts'
import { auditOf } from '../../../gateway/admin/operator.ts'
import type { BufferedReply } from '../../request-context.ts'
import { readJson, valueOf } from '../body.ts'
import { adminReply, type AdminCall } from '../call.ts'
import type { CatalogPorts } from '../ports.ts'
import { rowOf, usdOf } from './catalog-rows.ts'
import { absenceOf, found } from '../found.ts'
import { readRevision, readSwitch } from '../query.ts'

/** All price lists. */
export async function listPriceLists(_: AdminCall, { catalog }: CatalogPorts): Promise<BufferedReply> {
  const { priceLists, revision } = catalog.current()
  return adminReply({ data: [...priceLists.values()].map(encodePriceList), revision })
}

export async function getPriceList({ params }: AdminCall, { catalog }: CatalogPorts): Promise<BufferedReply> {
  return adminReply(encodePriceList(listOf(catalog.current(), params['list'] ?? '')))
}

/** The models whose price in a list is not the one of the catalog. */
export async function getPriceListChanges(
  { params }: AdminCall,
  { catalog }: CatalogPorts,
): Promise<BufferedReply> {
  const current = catalog.current()
  const list = listOf(current, params['list'] ?? '')
  return adminReply({ data: priceChanges(current, undefined, list).map(changeBody) })
}

/**
 * Creates or replaces a price list, from the next request on. `?dry_run=true` changes nothing, and replies with the
 * models whose price changes for the accounts that have it.
 */
export async function putPriceList(
  { request, query, params, actor }: AdminCall,
  ports: CatalogPorts,
): Promise<BufferedReply> {
  const id = params['list'] ?? ''
  const isDryRun = readSwitch(query, 'dry_run', false)
  const list = valueOf(decodePriceList(rowOf(await readJson(request), id)))
  const check = readRevision(query)
  if (isDryRun) {
    const current = ports.catalog.current()
    check?.(current)
    return adminReply(previewBody(list, current))
  }
  const audit = auditOf({ actor, action: 'price_list.put', subject: id }, ports.clock)
  return adminReply(encodePriceList(listOf(await ports.catalog.putPriceList(list, audit, check), id)))
}

/** Deletes a price list. Throws `invalid_field` while an open account has it. */
export async function deletePriceList(
  { params, actor }: AdminCall,
  ports: CatalogPorts,
): Promise<BufferedReply> {
  const id = params['list'] ?? ''
  const audit = auditOf({ actor, action: 'price_list.delete', subject: id }, ports.clock)
  const isDeleted = await ports.catalog.deletePriceList(id, audit)
  found(isDeleted || undefined, () => noList(ports.catalog.current(), id))
  return adminReply({ id, deleted: true })
}

/** Throws `invalid_field` for a list that the store would refuse. */
function previewBody(list: PriceList, catalog: Catalog): object {
  const problems: RowProblem[] = []
  const models = [...catalog.models.values(), ...catalog.drafts.values()]
  refuseUnfitPrices(list, kindsOf(models), { path: [], problems })
  if (problems.length > 0) throw rowsRefusal(problems)
  const before = catalog.priceLists.get(list.id)
  return {
    dry_run: true,
    revision: catalog.revision,
    is_new: before === undefined,
    changes: priceChanges(catalog, before, list).map(changeBody),
  }
}

function changeBody({ model, kind, before, after, example }: PriceChange): object {
  return {
    model,
    kind,
    before,
    after,
    example: { of: example.of, before_usd: usdOf(example.before), after_usd: usdOf(example.after) },
  }
}

function listOf(catalog: Catalog, id: string): PriceList {
  return found(catalog.priceLists.get(id), () => noList(catalog, id))
}

function noList({ priceLists }: Catalog, id: string): string {
  return absenceOf('price list', id, [...priceLists.keys()])
}
