import type { Config } from '../../config/config.ts'
import { SANDBOX_CATALOG } from '../../domain/catalog/sandbox-catalog.ts'
import { usd } from '../../domain/money.ts'
import { createAccount } from '../../gateway/admin/accounts/create-account.ts'
import { createApiKey } from '../../gateway/admin/accounts/create-api-key.ts'
import { creditAccount } from '../../gateway/admin/accounts/credit-account.ts'
import { auditOf } from '../../gateway/admin/operator.ts'
import { pause } from '../../gateway/ports/clock.ts'
import type { Lease, Leases } from '../../gateway/ports/nodes/leases.ts'
import type { AccountPorts, CatalogPorts } from '../../http/admin/ports.ts'
import { importCatalogFile } from './import-catalog-file.ts'

const DEMO_ACCOUNT = 'demo'
export const DEMO_GRANT = usd('5')

export type FirstStart = {
  /** The key of the demo account if this start created it. It is shown only once. */
  readonly demoKey: string | null
  /** The file of `TOLLGATE_CATALOG` if it was not imported, because the store already has a catalog. */
  readonly unreadFile: string | undefined
}

type FillPorts = AccountPorts & CatalogPorts & { readonly leases: Leases }

/** Far longer than it takes. After that, another node takes over from one that died. */
const FILL_TTL_MS = 30_000
const FILL_RETRY_MS = 250

/**
 * Fills a store that has no catalog. It imports `TOLLGATE_CATALOG` if that is set. Otherwise, unless the sandbox is
 * off, it creates the sandbox catalog and a demo account that can call only sandbox models. Each step is done at most
 * once, even if a start is killed between two steps, because the catalog is stored last. Of several nodes that
 * start at once, one does it.
 */
export async function firstStart(config: Config, ports: FillPorts): Promise<FirstStart> {
  const { catalog } = ports
  if (catalog.current().revision > 0) return { demoKey: null, unreadFile: config.catalogFile }
  if (config.catalogFile === undefined && !config.isSandboxOn) return { demoKey: null, unreadFile: undefined }
  const lease = await turnToFill(ports)
  if (lease === undefined) return { demoKey: null, unreadFile: config.catalogFile }
  try {
    return await fill(config, ports)
  } finally {
    await lease.release()
  }
}

/** Undefined when another node has filled the store. Waits while one does. */
async function turnToFill({ catalog, leases, clock }: FillPorts): Promise<Lease | undefined> {
  for (;;) {
    const lease = await leases.take('first start', FILL_TTL_MS)
    if (lease !== undefined && (await catalog.refresh()).revision === 0) return lease
    await lease?.release()
    if ((await catalog.refresh()).revision > 0) return undefined
    await pause(clock, FILL_RETRY_MS)
  }
}

async function fill(config: Config, ports: FillPorts): Promise<FirstStart> {
  const { catalog, clock } = ports
  if (config.catalogFile !== undefined) {
    await importCatalogFile(config.catalogFile, ports)
    return { demoKey: null, unreadFile: undefined }
  }
  const demoKey = await makeDemoAccount(ports)
  await catalog.replace(
    SANDBOX_CATALOG,
    auditOf({ actor: 'startup', action: 'catalog.replace', subject: 'sandbox' }, clock),
  )
  return { demoKey, unreadFile: undefined }
}

/** The result of a start that does not fill the store. */
export async function nothingFilled(): Promise<FirstStart> {
  return { demoKey: null, unreadFile: undefined }
}

async function makeDemoAccount(ports: AccountPorts): Promise<string> {
  const account =
    (await ports.accounts.findAccount(DEMO_ACCOUNT)) ??
    (await createAccount({ name: DEMO_ACCOUNT, sandboxOnly: true, actor: 'startup' }, ports))
  await creditAccount(
    {
      account,
      amount: DEMO_GRANT,
      source: 'grant',
      note: 'demo balance for the sandbox',
      idempotencyKey: 'first-start',
      actor: 'startup',
    },
    ports,
  )
  const { text } = await createApiKey({ account, name: 'first start', actor: 'startup' }, ports)
  return text
}
