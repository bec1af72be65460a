import { uncallableModels, type Catalog } from '../../../domain/catalog/catalog.ts'
import { catalogChanges } from '../../../domain/catalog/catalog-changes.ts'
import { workedExample, type WorkedExample } from '../../../domain/catalog/price-preview.ts'
import type { AnyModelSettings } from '../../../domain/catalog/model.ts'
import type { ProviderSettings } from '../../../domain/catalog/provider.ts'
import { decodeModel, encodeModel } from '../../../domain/catalog/rows/model-row.ts'
import { decodeProvider, encodeProvider } from '../../../domain/catalog/rows/provider-row.ts'
import { formatUsd, type NanoUsd } from '../../../domain/money.ts'
import { auditOf } from '../../../gateway/admin/operator.ts'
import { flagField, readFields, readJson, valueOf, wrongField } from '../body.ts'
import type { BufferedReply } from '../../request-context.ts'
import { adminReply, type AdminCall } from '../call.ts'
import type { CatalogPorts } from '../ports.ts'
import { absenceOf, found } from '../found.ts'
import { readRevision, readSwitch } from '../query.ts'
import { fieldsBody } from './replace-catalog.ts'

/** All providers, without their secrets. */
export async function listProviderRows(_: AdminCall, { catalog }: CatalogPorts): Promise<BufferedReply> {
  const { providers, revision } = catalog.current()
  return adminReply({ data: [...providers.values()].map(encodeProvider), revision })
}

/** One provider, without its secret. */
export async function getProvider({ params }: AdminCall, { catalog }: CatalogPorts): Promise<BufferedReply> {
  return adminReply(providerBody(catalog.current(), params['provider'] ?? ''))
}

/**
 * Creates or replaces a provider. A key that is sent as `<stored>` is kept. `?dry_run=true` changes nothing, and
 * replies with the fields that change.
 */
export async function putProvider(
  { request, params, query, actor }: AdminCall,
  ports: CatalogPorts,
): Promise<BufferedReply> {
  const id = params['provider'] ?? ''
  const provider = valueOf(decodeProvider(rowOf(await readJson(request), id)))
  if (readSwitch(query, 'dry_run', false)) return previewProvider(provider, query, ports)
  const audit = auditOf({ actor, action: 'provider.put', subject: id }, ports.clock)
  return adminReply(providerBody(await ports.catalog.putProvider(provider, audit, readRevision(query)), id))
}

async function previewProvider(
  provider: ProviderSettings,
  query: URLSearchParams,
  { catalog, clock }: CatalogPorts,
): Promise<BufferedReply> {
  const before = catalog.current()
  readRevision(query)?.(before)
  const { id } = provider
  const { providers, models } = listsOf(before)
  const isNew = !before.providers.has(id)
  const after = await catalog.preview(
    {
      providers: isNew ? [...providers, provider] : providers.map(row => (row.id === id ? provider : row)),
      models,
    },
    clock.now(),
  )
  const change = catalogChanges(before, after).rows.find(row => row.kind === 'provider' && row.id === id)
  return adminReply({
    dry_run: true,
    revision: before.revision,
    is_new: isNew,
    fields: fieldsBody(change?.fields ?? []),
    loses_key: change?.losesKey ?? false,
  })
}

/** Deletes a provider. Throws `invalid_field` while a model uses it. */
export async function deleteProvider(
  { params, actor }: AdminCall,
  ports: CatalogPorts,
): Promise<BufferedReply> {
  const id = params['provider'] ?? ''
  const audit = auditOf({ actor, action: 'provider.delete', subject: id }, ports.clock)
  const isDeleted = await ports.catalog.deleteProvider(id, audit)
  found(isDeleted || undefined, () => noProvider(ports.catalog.current(), id))
  return adminReply({ id, deleted: true })
}

/**
 * Asks a provider whether it responds and accepts its key, which costs nothing. The key goes only to the stored
 * address.
 */
export async function postProviderTest(
  { request, params, actor }: AdminCall,
  { catalog, clock, auditLog, probeProvider }: CatalogPorts,
): Promise<BufferedReply> {
  await readFields(request, [])
  const id = params['provider'] ?? ''
  const provider = found(catalog.current().providers.get(id), () => noProvider(catalog.current(), id))
  const beganMs = clock.monotonicMs()
  const { ok, detail } = await probeProvider(provider)
  const durationMs = Math.round(clock.monotonicMs() - beganMs)
  await auditLog.record(
    auditOf({ actor, action: 'provider.test', subject: id, detail: ok ? 'ok' : 'failed' }, clock),
  )
  return adminReply({ provider: id, ok, detail, duration_ms: durationMs })
}

/** All models, including those that are off or unfinished, and those that cannot be called now. */
export async function listModelRows(_: AdminCall, ports: CatalogPorts): Promise<BufferedReply> {
  const catalog = ports.catalog.current()
  const { models, drafts, revision } = catalog
  return adminReply({
    data: [...models.values(), ...drafts.values()].map(encodeModel),
    uncallable: uncallableModels(catalog, ports),
    revision,
  })
}

/** One model, even if it is off or unfinished. */
export async function getModel({ params }: AdminCall, { catalog }: CatalogPorts): Promise<BufferedReply> {
  return adminReply(modelBody(catalog.current(), params['model'] ?? ''))
}

/**
 * Creates or replaces a model. The row is validated like a row of the catalog file. `?dry_run=true` changes nothing,
 * and replies with the fields that change and with what one request costs before and after.
 */
export async function putModel(call: AdminCall, ports: CatalogPorts): Promise<BufferedReply> {
  const id = call.params['model'] ?? ''
  if (readSwitch(call.query, 'dry_run', false)) return previewModel(id, call, ports)
  return storeModel(rowOf(await readJson(call.request), id), 'model.put', { call, ports })
}

/** Switches a model on or off. Throws if a model to switch on lacks its price or its max_output_tokens. */
export async function patchModel(call: AdminCall, ports: CatalogPorts): Promise<BufferedReply> {
  const enabled = flagField(await readFields(call.request, ['enabled']), 'enabled')
  const row = modelBody(ports.catalog.current(), call.params['model'] ?? '')
  return storeModel({ ...row, enabled }, enabled ? 'model.on' : 'model.off', { call, ports })
}

/** Deletes a model. */
export async function deleteModel({ params, actor }: AdminCall, ports: CatalogPorts): Promise<BufferedReply> {
  const id = params['model'] ?? ''
  const audit = auditOf({ actor, action: 'model.delete', subject: id }, ports.clock)
  const isDeleted = await ports.catalog.deleteModel(id, audit)
  found(isDeleted || undefined, () => noModel(ports.catalog.current(), id))
  return adminReply({ id, deleted: true })
}

async function previewModel(
  id: string,
  { request, query }: AdminCall,
  ports: CatalogPorts,
): Promise<BufferedReply> {
  const model = valueOf(decodeModel(rowOf(await readJson(request), id)))
  const before = ports.catalog.current()
  readRevision(query)?.(before)
  const { providers, models } = listsOf(before)
  const settings = { providers, models: [...models.filter(row => row.id !== id), model] }
  const after = await ports.catalog.preview(settings, ports.clock.now())
  const change = catalogChanges(before, after).rows.find(row => row.kind === 'model' && row.id === id)
  const priced = after.models.get(id)
  return adminReply({
    dry_run: true,
    revision: before.revision,
    is_new: change?.change === 'added',
    fields: fieldsBody(change?.fields ?? []),
    example: priced === undefined ? null : exampleBody(workedExample(before.models.get(id), priced)),
  })
}

/** The rows of a catalog, as `preview` takes them. It keeps the price lists. */
function listsOf({ providers, models, drafts }: Catalog) {
  return { providers: [...providers.values()], models: [...models.values(), ...drafts.values()] }
}

function exampleBody({ of, before, after, costs }: WorkedExample): object {
  return {
    of,
    before_usd: usdOf(before),
    after_usd: usdOf(after),
    costs: costs.map(({ provider, cost, margin }) => ({
      provider,
      cost_usd: formatUsd(cost),
      margin_usd: usdOf(margin),
    })),
  }
}

export function usdOf(amount: NanoUsd | null): string | null {
  return amount === null ? null : formatUsd(amount)
}

async function storeModel(
  row: unknown,
  action: string,
  { call, ports }: { readonly call: AdminCall; readonly ports: CatalogPorts },
): Promise<BufferedReply> {
  const model = valueOf(decodeModel(row))
  const { id } = model
  const audit = auditOf({ actor: call.actor, action, subject: id, detail: salesTerms(model) }, ports.clock)
  return adminReply(modelBody(await ports.catalog.putModel(model, audit, readRevision(call.query)), id))
}

/** The parts of a row for the audit log: whether it is on, and its price. */
function salesTerms(model: AnyModelSettings): string {
  const { enabled, pricing, markup, ceiling_pricing } = encodeModel(model)
  return JSON.stringify({ enabled, pricing, markup, ceiling_pricing })
}

/** Adds the id of the path to a row without one. Throws `invalid_field` if the ids differ. */
export function rowOf(body: unknown, id: string): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body
  const row = { id, ...body }
  if (row.id !== id) throw wrongField('id', `must be ${JSON.stringify(id)}, as in the path, or left out`)
  return row
}

function providerBody(catalog: Catalog, id: string): object {
  return encodeProvider(found(catalog.providers.get(id), () => noProvider(catalog, id)))
}

function modelBody(catalog: Catalog, id: string): object {
  return encodeModel(found(catalog.models.get(id) ?? catalog.drafts.get(id), () => noModel(catalog, id)))
}

function noProvider(catalog: Catalog, id: string): string {
  return absenceOf('provider', id, [...catalog.providers.keys()])
}

function noModel(catalog: Catalog, id: string): string {
  return absenceOf('model', id, [...catalog.models.keys(), ...catalog.drafts.keys()])
}
