import { getAccount, listAccounts, patchAccount, postAccount } from './accounts.ts'
import { getStatement, listAudit, postGrant } from './books.ts'
import { getCatalogHistory, postCatalogRollback } from './catalog-history.ts'
import { getCatalog, putCatalog } from './catalog.ts'
import {
  deleteModel,
  deleteProvider,
  getModel,
  getProvider,
  listModelRows,
  listProviderRows,
  patchModel,
  putModel,
  putProvider,
} from './catalog-rows.ts'
import { postDebit, postRefund, postResumption, postSuspension } from './corrections.ts'
import { getJob, listJobs } from './jobs.ts'
import {
  deleteKeyOfAccount,
  getKey,
  listKeys,
  patchKey,
  postKey,
  postKeyRevocation,
  postKeySearch,
} from './keys.ts'
import { listLosses, listUsage } from './usage.ts'
import { getDoctor, postBackup, postReconciliation, postVerification } from './maintenance.ts'
import type { AdminRoute } from './match-route.ts'

/** All paths of the admin API. `{account}` is the id or the name of an account. */
export const routes: readonly AdminRoute[] = [
  { path: 'providers', methods: { GET: listProviderRows } },
  { path: 'providers/{provider}', methods: { GET: getProvider, PUT: putProvider, DELETE: deleteProvider } },
  { path: 'models', methods: { GET: listModelRows } },
  {
    path: 'models/{model...}',
    methods: { GET: getModel, PUT: putModel, PATCH: patchModel, DELETE: deleteModel },
  },
  { path: 'catalog', methods: { GET: getCatalog, PUT: putCatalog } },
  { path: 'catalog/history', methods: { GET: getCatalogHistory } },
  { path: 'catalog/rollback', methods: { POST: postCatalogRollback } },
  { path: 'accounts', methods: { GET: listAccounts, POST: postAccount } },
  { path: 'accounts/{account}', methods: { GET: getAccount, PATCH: patchAccount } },
  { path: 'accounts/{account}/keys', methods: { GET: listKeys, POST: postKey } },
  { path: 'accounts/{account}/keys/{id}', methods: { DELETE: deleteKeyOfAccount } },
  { path: 'accounts/{account}/grants', methods: { POST: postGrant } },
  { path: 'accounts/{account}/debits', methods: { POST: postDebit } },
  { path: 'accounts/{account}/suspend', methods: { POST: postSuspension } },
  { path: 'accounts/{account}/resume', methods: { POST: postResumption } },
  { path: 'accounts/{account}/statement', methods: { GET: getStatement } },
  { path: 'charges/{charge}/refund', methods: { POST: postRefund } },
  { path: 'keys/find', methods: { POST: postKeySearch } },
  { path: 'keys/{id}', methods: { GET: getKey, PATCH: patchKey } },
  { path: 'keys/{id}/revoke', methods: { POST: postKeyRevocation } },
  { path: 'jobs', methods: { GET: listJobs } },
  { path: 'jobs/{job}', methods: { GET: getJob } },
  { path: 'losses', methods: { GET: listLosses } },
  { path: 'usage', methods: { GET: listUsage } },
  { path: 'audit', methods: { GET: listAudit } },
  { path: 'reconcile', methods: { POST: postReconciliation } },
  { path: 'verify', methods: { POST: postVerification } },
  { path: 'backups', methods: { POST: postBackup } },
  { path: 'doctor', methods: { GET: getDoctor } },
]
