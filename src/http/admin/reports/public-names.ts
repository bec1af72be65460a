import { projectsOfKeys } from '../../account/projects-of-keys.ts'
import type { ReportPorts } from '../ports.ts'

/** The public ids of accounts and keys, and the names of accounts, by their numbers. */
export type PublicNames = {
  readonly accounts: ReadonlyMap<number, string>
  readonly accountNames: ReadonlyMap<number, string>
  readonly keys: ReadonlyMap<number, string>
  /** The public ids of the projects of keys, by the numbers of the keys. */
  readonly projectsOfKeys: ReadonlyMap<number, string>
}

/** The public ids and names of the accounts of some rows, and the public ids of their keys and projects. */
export async function publicNames(
  rows: readonly { readonly accountId: number }[],
  ports: Pick<ReportPorts, 'accounts' | 'apiKeys' | 'projects'>,
): Promise<PublicNames> {
  const ids = [...new Set(rows.map(({ accountId }) => accountId))]
  const found = await Promise.all(ids.map(id => ports.accounts.findAccountById(id)))
  const accounts = found.filter(account => account !== undefined)
  const keys = (await Promise.all(accounts.map(({ id }) => ports.apiKeys.list(id)))).flat()
  const projects = (await Promise.all(accounts.map(({ id }) => ports.projects.list(id)))).flat()
  return {
    accounts: new Map(accounts.map(({ id, publicId }) => [id, publicId])),
    accountNames: new Map(accounts.map(({ id, name }) => [id, name])),
    keys: new Map(keys.map(({ id, publicId }) => [id, publicId])),
    projectsOfKeys: projectsOfKeys(keys, projects),
  }
}
