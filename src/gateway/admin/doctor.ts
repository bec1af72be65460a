import { countOn, type Catalog } from '../../domain/catalog/catalog.ts'
import type { Provider } from '../../domain/catalog/provider.ts'
import type { AuditLog } from '../ports/audit.ts'
import type { Moderator } from '../ports/moderator.ts'

/** One thing that was looked at. `detail` is a sentence for the operator, without secrets. */
export type Check = { readonly name: string; readonly ok: boolean; readonly detail: string }

/** Asks a provider whether it is there and takes its key. Sends nothing that costs, never throws, and ends within seconds. */
export type ProbeProvider = (provider: Provider) => Promise<Omit<Check, 'name'>>

/** A catalog may name hundreds of providers; more calls at once would say more about this machine than about them. */
const PROBES_AT_ONCE = 8

/** What is put to the moderator: nothing that any would stop. */
const HARMLESS = 'Good morning.'

/** Looks at the store, the catalog, the moderator and every provider. Changes nothing. */
export async function examine(ports: {
  readonly catalog: { current(): Catalog }
  readonly auditLog: AuditLog
  readonly isSandboxOn: boolean
  readonly probeProvider: ProbeProvider
  /** Undefined where moderation is off. */
  readonly moderator: Moderator | undefined
}): Promise<readonly Check[]> {
  const catalog = ports.catalog.current()
  return [
    await checkStore(ports.auditLog),
    checkCatalog(catalog, ports),
    ...(ports.moderator === undefined ? [] : [await checkModerator(ports.moderator)]),
    ...(await probeAll([...catalog.providers.values()], ports.probeProvider)),
  ]
}

async function checkStore(auditLog: AuditLog): Promise<Check> {
  await auditLog.list({ limit: 1 })
  return { name: 'store', ok: true, detail: 'The store answers.' }
}

function checkCatalog(catalog: Catalog, sandbox: { readonly isSandboxOn: boolean }): Check {
  const count = countOn(catalog, sandbox)
  const rows = catalog.models.size + catalog.drafts.size
  const detail =
    count === 0
      ? 'No model is on, so that every request will be refused. Import a catalog or switch a model on.'
      : `${count} of ${rows} models are on (revision ${catalog.revision}).`
  return { name: 'catalog', ok: count > 0, detail }
}

/** Without verdicts requests pass unmoderated, and nobody would notice. */
async function checkModerator(moderator: Moderator): Promise<Check> {
  const name = 'moderation'
  const moderation = await moderator.judge([HARMLESS])
  switch (moderation.verdict) {
    case 'passed':
      return { name, ok: true, detail: 'Answers.' }
    case 'flagged':
      return { name, ok: false, detail: 'Stops a plain greeting, and so perhaps everything.' }
    case 'unavailable': {
      const detail = `Gives no verdict, so that every request passes (${moderation.problem}).`
      return { name, ok: false, detail }
    }
  }
}

async function probeAll(providers: readonly Provider[], probe: ProbeProvider): Promise<readonly Check[]> {
  const checkProvider = async (provider: Provider): Promise<Check> => {
    const { ok, detail } = await probe(provider)
    return { name: `provider ${provider.id}`, ok, detail }
  }
  const checks: Check[] = []
  for (let at = 0; at < providers.length; at += PROBES_AT_ONCE) {
    checks.push(...(await Promise.all(providers.slice(at, at + PROBES_AT_ONCE).map(checkProvider))))
  }
  return checks
}
