import type { AdminPorts } from './call.ts'

/** The public ids of accounts and keys, and the names of accounts, by their numbers. */
export type PublicNames = {
  readonly accounts: ReadonlyMap<number, string>
  readonly accountNames: ReadonlyMap<number, string>
  readonly keys: ReadonlyMap<number, string>
}

/** The public ids and names of the accounts of some rows, and the public ids of their keys. */
export async function publicNames(
  rows: readonly { readonly accountId: number }[],
  ports: Pick<AdminPorts, 'accounts' | 'apiKeys'>,
): Promise<PublicNames> {
  const ids = [...new Set(rows.map(({ accountId }) => accountId))]
  const found = await Promise.all(ids.map(id => ports.accounts.findAccountById(id)))
  const accounts = found.filter(account => account !== undefined)
  const keys = await Promise.all(accounts.map(({ id }) => ports.apiKeys.list(id)))
  return {
    accounts: new Map(accounts.map(({ id, publicId }) => [id, publicId])),
    accountNames: new Map(accounts.map(({ id, name }) => [id, name])),
    keys: new Map(keys.flat().map(({ id, publicId }) => [id, publicId])),
  }
}
