import type { Config } from '../config/config.ts'
import { SANDBOX_CATALOG } from '../domain/catalog/sandbox-catalog.ts'
import { formatUsd, usd } from '../domain/money.ts'
import { createAccount } from '../gateway/admin/create-account.ts'
import { createApiKey } from '../gateway/admin/create-api-key.ts'
import { creditAccount } from '../gateway/admin/credit-account.ts'
import { auditOf } from '../gateway/admin/operator.ts'
import type { AdminPorts } from '../http/admin/call.ts'
import { importCatalogFile } from './import-catalog-file.ts'
import type { DataFolder } from './data-folder.ts'

const DEMO_ACCOUNT = 'demo'
const DEMO_GRANT = usd('5')

export type FirstStart = {
  /** The key of the demo account if this start created it. It is shown only once. */
  readonly demoKey: string | null
  /** The file of `TOLLGATE_CATALOG` if it was not imported, because the store already has a catalog. */
  readonly unreadFile: string | undefined
}

/**
 * Fills a store that has no catalog. It imports `TOLLGATE_CATALOG` if that is set. Otherwise, unless the sandbox is
 * off, it creates the sandbox catalog and a demo account that can call only sandbox models. Each step is done at most
 * once, even if a start is killed between two steps, because the catalog is stored last.
 */
export async function firstStart(config: Config, ports: AdminPorts): Promise<FirstStart> {
  const { catalog, clock } = ports
  if (catalog.current().revision > 0) return { demoKey: null, unreadFile: config.catalogFile }
  if (config.catalogFile !== undefined) {
    await importCatalogFile(config.catalogFile, ports)
    return { demoKey: null, unreadFile: undefined }
  }
  if (!config.isSandboxOn) return { demoKey: null, unreadFile: undefined }
  const demoKey = await makeDemoAccount(ports)
  await catalog.replace(
    SANDBOX_CATALOG,
    auditOf({ actor: 'startup', action: 'catalog.replace', subject: 'sandbox' }, clock),
  )
  return { demoKey, unreadFile: undefined }
}

async function makeDemoAccount(ports: AdminPorts): Promise<string> {
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

/** The message that a start prints. It has keys only if this start created them. */
export function welcome(
  start: FirstStart & {
    readonly url: string
    readonly config: Config
    readonly folder: DataFolder
    readonly adminKey: { readonly key: string; readonly isNew: boolean }
    /** The providers whose stored keys cannot be decrypted. */
    readonly keyless: readonly string[]
    /** Environment variables that the catalog names and this process does not have. */
    readonly missingVariables: readonly string[]
    /** False if no model is on, so that every request would be refused. */
    readonly hasModels: boolean
  },
): string {
  const { url, config, folder, adminKey, demoKey, unreadFile, keyless, missingVariables, hasModels } = start
  const base = config.baseUrl ?? url
  const lines = [`Tollgate listens on ${url}`, `  data folder  ${folder.path}`]
  if (unreadFile !== undefined)
    lines.push(
      `  catalog      in the data folder; to replace it, run "bin/tollgate catalog import ${unreadFile}"`,
    )
  if (adminKey.isNew) lines.push(`  admin key    ${adminKey.key}  (shown once; stored in admin.key)`)
  if (demoKey !== null) {
    lines.push(
      `  sandbox key  ${demoKey}  (shown once; ${formatUsd(DEMO_GRANT)} USD, sandbox models only)`,
      '',
      'Try it:',
      '',
      demoChat(base, demoKey),
      '',
      'An image, stored in sandbox.png:',
      '',
      demoImage(base, demoKey),
    )
  }
  if (keyless.length > 0)
    lines.push(
      '',
      `The stored keys of these providers cannot be decrypted. Enter them again: ${keyless.join(', ')}`,
    )
  if (missingVariables.length > 0)
    lines.push(
      '',
      `The catalog names environment variables that are not set, so calls to their providers fail: ${missingVariables.join(', ')}`,
    )
  if (!hasModels)
    lines.push('', 'No model is on, so every request is refused. Run "bin/tollgate catalog import FILE".')
  return `${lines.join('\n')}\n\n`
}

function demoChat(base: string, key: string): string {
  return demoCall(base, key, {
    path: 'chat/completions',
    body: '{"model": "sandbox-chat", "messages": [{"role": "user", "content": "Hello"}]}',
  })
}

/** Without a JSON tool, which a machine may not have. */
function demoImage(base: string, key: string): string {
  const call = demoCall(base, key, {
    path: 'images/generations',
    body: '{"model": "sandbox-image", "prompt": "A red fox"}',
  })
  return `${call} | sed 's/.*"b64_json":"\\([^"]*\\).*/\\1/' | base64 -d > sandbox.png`
}

function demoCall(
  base: string,
  key: string,
  { path, body }: { readonly path: string; readonly body: string },
): string {
  return `curl -s ${base}/v1/${path} -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '${body}'`
}
