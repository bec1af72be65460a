import type { Account } from '../../src/domain/accounts/account.ts'
import type { ApiKey } from '../../src/domain/accounts/api-key.ts'
import type { Project } from '../../src/domain/accounts/project.ts'
import type { Accounts, Editor } from '../../src/gateway/ports/access/accounts.ts'
import type { LimitsPatch } from '../../src/domain/limits/limits-row.ts'
import type { ApiKeys } from '../../src/gateway/ports/access/api-keys.ts'
import type { TermsPatch } from '../../src/domain/limits/scope.ts'
import { anAudit, anId, NOW } from './ledger-builders.ts'
import type { TestStore } from './test-store.ts'

/** The patch that revokes a key. */
export const REVOKED = { revoked: true } as const

export function at(atMs: number): Editor {
  return { actor: 'test', atMs }
}

export function make(accounts: Accounts, name: string): Promise<Account> {
  const audit = anAudit({ action: 'account.create', subject: name })
  return accounts.createAccount({ publicId: `acct_${anId().key}`, name, sandboxOnly: false, audit })
}

/** The request for a key of an account. */
export function aKeyOf(
  { id: accountId }: Account,
  hash: Uint8Array = crypto.getRandomValues(new Uint8Array(32)),
): Parameters<ApiKeys['create']>[0] {
  const publicId = `key_${anId().key}`
  const audit = anAudit({ action: 'key.create', subject: publicId })
  return { publicId, accountId, name: 'default', hash, prefix: 'tg_live_abcd', audit }
}

export function makeKey(
  { apiKeys }: Pick<TestStore, 'apiKeys'>,
  account: Account,
  hash: Uint8Array,
): Promise<ApiKey> {
  return apiKeys.create(aKeyOf(account, hash))
}

export function aProject(
  { projects }: Pick<TestStore, 'projects'>,
  of: { readonly accountId: number; readonly name?: string; readonly limits?: TermsPatch },
): Promise<Project> {
  const { key } = anId()
  return projects.create({ publicId: `proj_${key}`, name: `project ${key}`, by: at(NOW), ...of })
}

/** A key in a project of its account. */
export function aKeyIn(store: Pick<TestStore, 'apiKeys'>, { accountId, id }: Project): Promise<ApiKey> {
  return aKey(store, { accountId, projectId: id })
}

export function aKey(
  { apiKeys }: Pick<TestStore, 'apiKeys'>,
  of: { readonly accountId: number; readonly projectId?: number; readonly limits?: LimitsPatch },
): Promise<ApiKey> {
  const publicId = `key_${anId().key}`
  return apiKeys.create({
    ...of,
    publicId,
    name: 'default',
    hash: crypto.getRandomValues(new Uint8Array(32)),
    prefix: 'tg_live_abcd',
    audit: anAudit({ action: 'key.create', subject: publicId }),
  })
}

export async function makeWithKey(store: Pick<TestStore, 'accounts' | 'apiKeys'>) {
  const account = await make(store.accounts, 'ada')
  const bytes = crypto.getRandomValues(new Uint8Array(32))
  return { account, apiKey: await makeKey(store, account, bytes), hash: base64(bytes) }
}

export function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64')
}
