import { encodeKeySettings } from '../../domain/accounts/key-settings.ts'
import type { Authenticated } from '../../gateway/ports/access/api-keys.ts'
import type { Accounts } from '../../gateway/ports/access/accounts.ts'
import type { Project } from '../../domain/accounts/project.ts'
import { instant } from '../../domain/time.ts'
import { limitsOf, termsOf, type LimitReads } from './limits-json.ts'
import { jsonReply, type HttpReply } from '../request-context.ts'

/**
 * `GET /v1/key`: the key of the request, with its limits, those of its project and its account, and who gets mails
 * about the account. The addresses that may use the key are only for the operator.
 */
export async function readKey(
  { account, apiKey, project }: Authenticated,
  { limits, accounts }: { readonly limits: LimitReads; readonly accounts: Pick<Accounts, 'findAccountById'> },
): Promise<HttpReply> {
  const accountId = account.id
  const [ofKey, ofProject, ofAccount, read] = await Promise.all([
    limitsOf({ accountId, apiKeyId: apiKey.id }, limits),
    project === undefined ? null : projectJson(project, limits),
    limitsOf({ accountId, apiKeyId: undefined }, limits),
    // The account of a caller is kept in memory, without its contacts.
    accounts.findAccountById(accountId),
  ])
  const { models, routes, expires_at } = encodeKeySettings(apiKey.settings ?? {})
  return jsonReply(200, {
    object: 'key',
    id: apiKey.publicId,
    name: apiKey.name,
    created_at: instant(apiKey.createdAtMs),
    expires_at,
    disabled_at: null,
    models,
    routes,
    ...ofKey,
    project: ofProject,
    account: { ...ofAccount, contacts: read?.contacts ?? [] },
  })
}

async function projectJson(project: Project, limits: LimitReads): Promise<object> {
  const { publicId, accountId, id, name } = project
  const terms = await termsOf({ accountId, apiKeyId: undefined, projectId: id }, limits)
  return { id: publicId, name, ...terms }
}
