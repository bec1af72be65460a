import type { AdminScope } from '../../domain/admin/admin-token.ts'
import {
  getAccount,
  listAccounts,
  patchAccount,
  postAccount,
  postClosing,
  postResumption,
  postSuspension,
} from './accounts/accounts.ts'
import { deleteToken, getToken, listTokens, postToken } from './operating/admin-tokens.ts'
import {
  getCatalogChanges,
  getCatalogHistory,
  getRowHistory,
  postCatalogRollback,
} from './catalog/catalog-history.ts'
import { getCatalog, putCatalog } from './catalog/catalog.ts'
import {
  deleteModel,
  deleteProvider,
  getModel,
  getProvider,
  listModelRows,
  listProviderRows,
  postProviderTest,
  patchModel,
  putModel,
  putProvider,
} from './catalog/catalog-rows.ts'
import { getStatement, postDebit, postGrant, postRefund } from './accounts/money.ts'
import { getJob, listJobs } from './reports/jobs.ts'
import { getJobContent } from './reports/job-content.ts'
import {
  deleteKeyOfAccount,
  getKey,
  listAllKeys,
  listKeys,
  patchKey,
  postKey,
  postKeyRevocation,
  postKeySearch,
} from './accounts/keys.ts'
import {
  deletePriceList,
  getPriceList,
  getPriceListChanges,
  listPriceLists,
  putPriceList,
} from './catalog/price-lists.ts'
import { getRequest, listRequests } from './reports/requests.ts'
import { getKeyDefaults, patchKeyDefaults } from './accounts/key-defaults.ts'
import { getMail, listMails, postMailTest } from './operating/mail.ts'
import { postRotation, postSecretRevocation } from './accounts/key-secrets.ts'
import { getMargins } from './reports/margins.ts'
import { getOverview, listProviderStates } from './reports/overview.ts'
import { getRequestsReport } from './reports/requests-report.ts'
import { listLosses, listUsage } from './reports/usage.ts'
import {
  getDoctor,
  getNodes,
  getSettings,
  getVerification,
  listAudit,
  listBackups,
  postBackup,
  postReconciliation,
  postVerification,
} from './operating/maintenance.ts'
import {
  deleteUserSessions,
  getUser,
  listUserSessions,
  listUsers,
  patchUser,
  postUser,
  postUserLink,
} from './operating/users.ts'
import { getProjectUsage } from './reports/project-usage.ts'
import {
  getProject,
  listProjects,
  patchProject,
  postProject,
  postProjectClosing,
} from './accounts/projects.ts'
import {
  deleteWebhook,
  getWebhook,
  listDeliveries,
  listWebhooks,
  patchWebhook,
  postRedelivery,
  postWebhook,
  postWebhookRotation,
  postWebhookTest,
} from './operating/webhooks.ts'
import type { AdminHandler } from './call.ts'
import type { AdminEndpoint, AdminRoute } from './match-route.ts'

/**
 * All paths of the admin API, with the scopes and the roles of each method: an admin token needs one of the scopes, and
 * a user one of the roles. `{account}` is the id or the name of an account.
 */
export const routes: readonly AdminRoute[] = [
  { path: 'providers', methods: { GET: reading(listProviderRows) } },
  {
    path: 'providers/{provider}',
    methods: { GET: reading(getProvider), PUT: owning(putProvider), DELETE: owning(deleteProvider) },
  },
  { path: 'providers/{provider}/test', methods: { POST: full(postProviderTest) } },
  { path: 'provider-states', methods: { GET: reading(listProviderStates) } },
  { path: 'models', methods: { GET: reading(listModelRows) } },
  {
    path: 'models/{model...}',
    methods: {
      GET: reading(getModel),
      PUT: full(putModel),
      PATCH: full(patchModel),
      DELETE: full(deleteModel),
    },
  },
  { path: 'price-lists', methods: { GET: reading(listPriceLists) } },
  {
    path: 'price-lists/{list}',
    methods: { GET: reading(getPriceList), PUT: full(putPriceList), DELETE: full(deletePriceList) },
  },
  { path: 'price-lists/{list}/changes', methods: { GET: reading(getPriceListChanges) } },
  { path: 'catalog', methods: { GET: reading(getCatalog), PUT: owning(putCatalog) } },
  { path: 'catalog/changes', methods: { GET: reading(getCatalogChanges) } },
  { path: 'catalog/history', methods: { GET: reading(getCatalogHistory) } },
  { path: 'catalog/history/{kind}/{row...}', methods: { GET: reading(getRowHistory) } },
  { path: 'catalog/rollback', methods: { POST: owning(postCatalogRollback) } },
  { path: 'accounts', methods: { GET: reading(listAccounts, 'grants'), POST: full(postAccount) } },
  { path: 'accounts/{account}', methods: { GET: reading(getAccount, 'grants'), PATCH: full(patchAccount) } },
  { path: 'accounts/{account}/keys', methods: { GET: reading(listKeys), POST: full(postKey) } },
  { path: 'accounts/{account}/keys/{id}', methods: { DELETE: full(deleteKeyOfAccount) } },
  { path: 'accounts/{account}/projects', methods: { GET: reading(listProjects), POST: full(postProject) } },
  { path: 'accounts/{account}/grants', methods: { POST: granting(postGrant) } },
  { path: 'accounts/{account}/debits', methods: { POST: full(postDebit) } },
  { path: 'accounts/{account}/suspend', methods: { POST: full(postSuspension) } },
  { path: 'accounts/{account}/close', methods: { POST: full(postClosing) } },
  { path: 'accounts/{account}/resume', methods: { POST: full(postResumption) } },
  { path: 'accounts/{account}/statement', methods: { GET: reading(getStatement) } },
  { path: 'charges/{charge}/refund', methods: { POST: full(postRefund) } },
  { path: 'key-defaults', methods: { GET: reading(getKeyDefaults), PATCH: full(patchKeyDefaults) } },
  { path: 'keys', methods: { GET: reading(listAllKeys) } },
  { path: 'keys/find', methods: { POST: reading(postKeySearch) } },
  { path: 'keys/{id}', methods: { GET: reading(getKey), PATCH: full(patchKey) } },
  { path: 'keys/{id}/rotate', methods: { POST: full(postRotation) } },
  { path: 'keys/{id}/secrets/{secret}/revoke', methods: { POST: full(postSecretRevocation) } },
  { path: 'keys/{id}/revoke', methods: { POST: full(postKeyRevocation) } },
  { path: 'projects/{project}', methods: { GET: reading(getProject), PATCH: full(patchProject) } },
  { path: 'projects/{project}/usage', methods: { GET: reading(getProjectUsage) } },
  { path: 'projects/{project}/close', methods: { POST: full(postProjectClosing) } },
  { path: 'jobs', methods: { GET: reading(listJobs) } },
  { path: 'jobs/{job}', methods: { GET: reading(getJob) } },
  { path: 'jobs/{job}/content/{n}', methods: { GET: reading(getJobContent) } },
  { path: 'losses', methods: { GET: reading(listLosses) } },
  { path: 'margins', methods: { GET: reading(getMargins) } },
  { path: 'overview', methods: { GET: reading(getOverview) } },
  { path: 'requests', methods: { GET: reading(listRequests) } },
  { path: 'requests/report', methods: { GET: reading(getRequestsReport) } },
  { path: 'requests/{request}', methods: { GET: reading(getRequest) } },
  { path: 'usage', methods: { GET: reading(listUsage) } },
  { path: 'tokens', methods: { GET: owning(listTokens), POST: owning(postToken) } },
  { path: 'tokens/{token}', methods: { GET: owning(getToken), DELETE: owning(deleteToken) } },
  { path: 'users', methods: { GET: owning(listUsers), POST: owning(postUser) } },
  { path: 'users/{user}', methods: { GET: owning(getUser), PATCH: owning(patchUser) } },
  { path: 'users/{user}/link', methods: { POST: owning(postUserLink) } },
  {
    path: 'users/{user}/sessions',
    methods: { GET: owning(listUserSessions), DELETE: owning(deleteUserSessions) },
  },
  { path: 'webhooks', methods: { GET: reading(listWebhooks), POST: full(postWebhook) } },
  {
    path: 'webhooks/{webhook}',
    methods: { GET: reading(getWebhook), PATCH: full(patchWebhook), DELETE: full(deleteWebhook) },
  },
  { path: 'webhooks/{webhook}/rotate', methods: { POST: full(postWebhookRotation) } },
  { path: 'webhooks/{webhook}/test', methods: { POST: full(postWebhookTest) } },
  { path: 'webhooks/{webhook}/deliveries', methods: { GET: reading(listDeliveries) } },
  { path: 'webhooks/{webhook}/deliveries/{delivery}/redeliver', methods: { POST: full(postRedelivery) } },
  { path: 'mail', methods: { GET: reading(getMail) } },
  { path: 'mail/messages', methods: { GET: reading(listMails) } },
  { path: 'mail/test', methods: { POST: full(postMailTest) } },
  { path: 'nodes', methods: { GET: reading(getNodes) } },
  { path: 'audit', methods: { GET: reading(listAudit) } },
  { path: 'reconcile', methods: { POST: full(postReconciliation) } },
  { path: 'verify', methods: { GET: reading(getVerification), POST: full(postVerification) } },
  { path: 'backups', methods: { GET: reading(listBackups), POST: full(postBackup) } },
  { path: 'settings', methods: { GET: reading(getSettings) } },
  { path: 'doctor', methods: { GET: reading(getDoctor) } },
]

/** Changes nothing. */
function reading(handler: AdminHandler, ...others: readonly AdminScope[]): AdminEndpoint {
  return { scopes: ['read', ...others], roles: ['owner', 'operator', 'support', 'viewer'], handler }
}

/** Gives money, up to an amount a day for some callers. */
function granting(handler: AdminHandler): AdminEndpoint {
  return { scopes: ['grants'], roles: ['owner', 'operator', 'support'], handler }
}

/** For the admin key and tokens that may do everything, and for the people who run the gateway. */
function full(handler: AdminHandler): AdminEndpoint {
  return { scopes: ['all'], roles: ['owner', 'operator'], handler }
}

/** Also decides who else has rights, or where requests and their keys go. */
function owning(handler: AdminHandler): AdminEndpoint {
  return { scopes: ['all'], roles: ['owner'], handler }
}
