import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'bun:test'
import { aKeyIn, aProject } from '../../../../test/support/account-builders.ts'
import { aDataFolder } from '../../../../test/support/data-folder.ts'
import { aJob, jobIn, moveTo, record } from '../../../../test/support/job-builders.ts'
import { anAccount, anAudit, NOW } from '../../../../test/support/ledger-builders.ts'
import { tamperFile } from '../../../../test/support/tamper.ts'
import { aSqliteStore, type TestSqlite } from '../../../../test/support/test-store.ts'
import { decodeCatalog } from '../../../domain/catalog/rows/catalog-rows.ts'
import { usd } from '../../../domain/money.ts'

/** The file of the books that each test edits a copy of. */
let original: string

beforeAll(async () => {
  original = join(aDataFolder(), 'tollgate.db')
  const store = aSqliteStore(original)
  await useBooks(store)
  await store.close()
})

/**
 * "ada" (account 1) is suspended and has no replays. Her jobs are 1 (processing), 2 (completed, with an idempotency
 * key), 3 (failed, and watched), 4 (finished late) and 5 (archived). "ben" (account 2) was suspended and resumed,
 * and renamed twice. He has a revoked key (2), a disabled and rotated key for image routes (3), a key (4) in his
 * project 2, and job 6 with an idempotency key. His project 1 was renamed and closed. "ada" may send 60 requests a
 * minute, key 3 10 and 5 with the model "x", and has a budget that was removed again. The keys of project 2 may send
 * 20. The admin token 1 ("ben") is revoked, and the admin token 2 ("cleo") is not. The catalog has the revisions 1
 * (provider "main" with a stored key, models "x" and "y"), 2 (another price of "x"), 3 ("y" was removed) and 4
 * (the price list "partner", which "ada" has).
 */
async function useBooks(store: TestSqlite) {
  const { accounts, apiKeys, jobs } = store
  const ada = await anAccount(store, { name: 'ada', publicId: 'acct_ada', funds: usd('50') })
  const ben = await anAccount(store, { name: 'ben', publicId: 'acct_ben', funds: usd('50') })
  const key = { accountId: ben.accountId, name: 'spare', hash: new Uint8Array(32), prefix: 'tg_live_abcd' }
  await apiKeys.create({ ...key, publicId: 'key_spare', audit: anAudit() })
  const { accountId } = ben
  const old = await aProject(store, { accountId, name: 'old' })
  await store.projects.update(old.publicId, { name: 'older', closed: true }, { actor: 'test', atMs: NOW })
  await store.keyDefaults.change(
    { limits: { requests_per_minute: 30 }, settings: { models: ['gpt-*'] } },
    { actor: 'test', atMs: NOW },
  )
  const keyDefaults = { budgets: { day: usd('5') } }
  await accounts.updateAccount('acct_ada', { keyDefaults }, { actor: 'test', atMs: NOW })
  await accounts.updateAccount('acct_ben', { keyDefaults }, { actor: 'test', atMs: NOW })
  const without = { keyDefaults: { budgets: null } }
  await accounts.updateAccount('acct_ben', without, { actor: 'test', atMs: NOW })
  const terms = { limits: { requests_per_minute: 20 } }
  await aKeyIn(store, await aProject(store, { accountId, name: 'web', limits: terms }))
  const rotated = { hash: new Uint8Array(32).fill(1), prefix: 'tg_live_next', oldEndsAtMs: NOW + 9000 }
  await apiKeys.rotate('key_spare', rotated, { actor: 'test', atMs: NOW })
  await jobIn('processing', jobs, aJob(ada))
  const keyed = (name: string) => ({ idempotency: { key: name, fingerprint: `images ${name}` } })
  await jobIn('completed', jobs, aJob(ada, keyed('order-1')))
  const watched = await jobIn('unknown_submit', jobs, aJob(ada))
  await jobs.fail(watched.id, { reason: 'submit_unconfirmed', message: 'Gone.', atMs: NOW + 1 })
  await jobs.accept(watched.id, { upstreamId: 'late-1', atMs: NOW + 2, nextPollAtMs: NOW + 2 })
  const late = await jobIn('unknown_submit', jobs, aJob(ada))
  await jobs.fail(late.id, { reason: 'submit_unconfirmed', message: 'Gone.', atMs: NOW + 1 })
  await jobs.bookLateCompletion(late.id, { cost: usd('2'), atMs: NOW + 2 })
  const archived = await record(jobs, aJob(ada))
  await moveTo.completed(jobs, archived.id)
  await jobs.archive(archived.id, NOW + 9000)
  await record(jobs, aJob(ben, keyed('order-2')))
  const at = (action: string, subject: string, atMs: number) => anAudit({ action, subject, atMs })
  const editor = { actor: 'test', atMs: NOW + 5 }
  await accounts.updateAccount('acct_ben', { suspended: true }, editor)
  await accounts.updateAccount('acct_ben', { suspended: false }, editor)
  await accounts.updateAccount('acct_ben', { name: 'benny' }, editor)
  await accounts.updateAccount('acct_ben', { name: 'ben' }, editor)
  await accounts.updateAccount('acct_ada', { suspended: true, replays: false }, editor)
  const [benKey] = await apiKeys.list(ben.accountId)
  await apiKeys.update(benKey!.publicId, { revoked: true }, editor)
  const token = await aToken(store, 'ben')
  await aToken(store, 'cleo')
  await store.adminTokens.revoke(token.publicId, editor)
  const limits = (rate: number) => ({ limits: { requests_per_minute: rate } })
  await accounts.updateAccount('acct_ada', { limits: limits(60) }, editor)
  const ofKey = { ...limits(10), budgets: { day: usd('5') }, perModel: { x: limits(5) } }
  await apiKeys.update('key_spare', { limits: ofKey }, editor)
  await apiKeys.update('key_spare', { limits: { budgets: null } }, editor)
  await apiKeys.update('key_spare', { settings: { routes: ['images'], models: ['gpt-*'] } }, editor)
  await apiKeys.update('key_spare', { settings: { models: null }, disabled: true }, editor)
  await apiKeys.update('key_spare', { name: 'other' }, editor)
  await store.catalog.replace(aCatalog('2.5', ['x', 'y']), at('catalog.replace', '1', NOW + 10))
  await store.catalog.replace(aCatalog('3.5', ['x', 'y']), at('catalog.replace', '2', NOW + 20))
  await store.catalog.replace(aCatalog('3.5', ['x']), at('catalog.replace', '3', NOW + 30))
  const list = { id: 'partner', factor: 800_000_000n, prices: new Map() }
  await store.catalog.putPriceList(list, at('price_list.put', 'partner', NOW + 40))
  await accounts.updateAccount('acct_ada', { priceList: 'partner' }, editor)
}

function aToken({ adminTokens }: TestSqlite, name: string) {
  return adminTokens.create({
    publicId: `tok_${name}`,
    name,
    hash: crypto.getRandomValues(new Uint8Array(32)),
    prefix: 'tg_admin_abcd',
    scopes: ['read'],
    grantsPerDay: null,
    expiresAtMs: null,
    audit: anAudit(),
  })
}

/** A catalog with a stored key, and chat models of one price. */
function aCatalog(price: string, models: readonly string[]) {
  const decoded = decodeCatalog({
    providers: [
      { id: 'main', kind: 'openai-compatible', base_url: 'https://api.example.com/v1', api_key: 'sk-1' },
    ],
    models: models.map(id => ({
      id,
      kind: 'chat',
      upstreams: [{ provider: 'main', model: id }],
      pricing: { input_per_mtok: price, output_per_mtok: '10' },
      max_output_tokens: 100,
    })),
  })
  if (!decoded.ok) throw new Error(JSON.stringify(decoded.problems))
  return decoded.value
}

async function messagesAfter(edit: string): Promise<readonly string[]> {
  const path = join(aDataFolder(), 'tollgate.db')
  copyFileSync(original, path)
  tamperFile(path, edit)
  const store = aSqliteStore(path)
  const { problems } = await store.ledger.verify()
  await store.close()
  return problems.map(({ message }) => message)
}

const job = (column: string) =>
  new RegExp(`Account "ada" .*: job img_\\w+ was changed after its latest event: .*${column}`)
const otherPrice = `replace(content, '3.5', '0.1')`

/** An edit of the file of a stopped gateway, and what `verify` says. */
const edits: readonly (readonly [name: string, edit: string, message: RegExp])[] = [
  [
    'the number of images asked for',
    `UPDATE jobs SET request = replace(request, '"count":4', '"count":1') WHERE row_id = 1`,
    job('request'),
  ],
  [
    'the prompt of a job',
    `UPDATE jobs SET request = replace(request, 'lighthouse', 'x') WHERE row_id = 5`,
    job('request'),
  ],
  ['when a job changed', 'UPDATE jobs SET changed_at_ms = 5 WHERE row_id = 2', job('changed_at_ms')],
  ['when a job is released', 'UPDATE jobs SET deadline_at_ms = 5 WHERE row_id = 1', job('deadline_at_ms')],
  [
    'when a submission began',
    'UPDATE jobs SET submitted_at_ms = NULL WHERE row_id = 1',
    job('submitted_at_ms'),
  ],
  ['the id at the provider', `UPDATE jobs SET upstream_id = 'other' WHERE row_id = 1`, job('upstream_id')],
  [
    'the id at the provider of a watched job',
    'UPDATE jobs SET upstream_id = NULL WHERE row_id = 3',
    job('upstream_id'),
  ],
  ['the files of a result', `UPDATE jobs SET outputs = '[]' WHERE row_id = 2`, job('outputs')],
  [
    'the hash of a file',
    `UPDATE jobs SET outputs = replace(outputs, 'abab', 'cdcd') WHERE row_id = 2`,
    job('outputs'),
  ],
  ['the duration of a result', 'UPDATE jobs SET duration_ms = 9 WHERE row_id = 2', job('duration_ms')],
  [
    'the reason of a failure',
    `UPDATE jobs SET failure_reason = 'rejected' WHERE row_id = 3`,
    job('failure_reason'),
  ],
  ['the code of a failure', `UPDATE jobs SET failure_code = 'x' WHERE row_id = 3`, job('failure_code')],
  [
    'the message of a failure',
    `UPDATE jobs SET failure_message = 'x' WHERE row_id = 3`,
    job('failure_message'),
  ],
  [
    'the wait after a failure',
    'UPDATE jobs SET failure_retry_after_s = 9 WHERE row_id = 3',
    job('failure_retry_after_s'),
  ],
  [
    'an archived job made readable',
    'UPDATE jobs SET archived_at_ms = NULL WHERE row_id = 5',
    job('archived_at_ms'),
  ],
  ['a result made archived', 'UPDATE jobs SET archived_at_ms = 5 WHERE row_id = 2', job('archived_at_ms')],
  ['the end of a watch', 'UPDATE jobs SET watch_until_ms = NULL WHERE row_id = 3', job('watch_until_ms')],
  [
    'a watch of a job that ended',
    'UPDATE jobs SET watch_until_ms = 9 WHERE row_id = 4',
    job('watch_until_ms'),
  ],
  [
    'a removed loss',
    'UPDATE jobs SET loss = NULL, loss_at_ms = NULL, loss_by = NULL WHERE row_id = 4',
    /a loss operation, but its job is missing|its charge is 0.00 USD/,
  ],
  [
    'the cost that a provider reported',
    'UPDATE jobs SET provider_cost = 5 WHERE row_id = 4',
    job('provider_cost'),
  ],
  [
    'the facts of an event',
    `UPDATE job_events SET facts = NULL WHERE job = 2`,
    /event \d+ \(\w+\) was changed after commit/,
  ],
  [
    'the facts of an event that cannot be read',
    `UPDATE job_events SET facts = 'x'`,
    /event \d+ \(\w+\) was changed after commit/,
  ],
  [
    'the facts of an event that are null',
    `UPDATE job_events SET facts = 'null'`,
    /event \d+ \(\w+\) was changed after commit/,
  ],
  [
    'the job of a key',
    'UPDATE job_keys SET job = 1 WHERE account_id = 2',
    /the idempotency key "order-2" names job row 1, which belongs to another/,
  ],
  [
    'the job of a key of the account',
    'UPDATE job_keys SET job = 1 WHERE account_id = 1',
    /"order-1" names job row 1, which was not created with it/,
  ],
  [
    'a key that names no job',
    'UPDATE job_keys SET job = 99 WHERE account_id = 1',
    /"order-1" names job row 99, which is missing/,
  ],
  [
    'the request of a key',
    `UPDATE job_keys SET fingerprint = 'x' WHERE account_id = 1`,
    /"order-1" has another request than its job/,
  ],
  [
    'the time of a key',
    'UPDATE job_keys SET created_at_ms = 5 WHERE account_id = 1',
    /"order-1" has another time than its job/,
  ],
  [
    'a renamed key',
    `UPDATE job_keys SET key = 'x' WHERE account_id = 1`,
    /the idempotency key "x" names job row 2, which was not created with it/,
  ],
  [
    'a deleted key',
    'DELETE FROM job_keys WHERE account_id = 1',
    /"ada" .* the row of its idempotency key is missing/,
  ],
  ['all keys deleted', 'DELETE FROM job_keys', /"ben" .* the row of its idempotency key is missing/],
  [
    'a key given to another account',
    'UPDATE job_keys SET account_id = 2 WHERE account_id = 1',
    /"ben" .* "order-1" names job row 2, which belongs to another/,
  ],
  [
    'a resumed account',
    'UPDATE accounts SET suspended_at_ms = NULL WHERE id = 1',
    /"ada" \(acct_ada\): it is not suspended, but the audit log/,
  ],
  [
    'a suspended account',
    'UPDATE accounts SET suspended_at_ms = 5 WHERE id = 2',
    /"ben" \(acct_ben\): it is suspended, but the audit log/,
  ],
  [
    'the time of a suspension',
    'UPDATE accounts SET suspended_at_ms = 5 WHERE id = 1',
    /"ada" \(acct_ada\): it is suspended, but the audit log/,
  ],
  [
    'replays switched on',
    'UPDATE accounts SET replays_off_at_ms = NULL WHERE id = 1',
    /"ada" \(acct_ada\): its replays are on, but/,
  ],
  [
    'replays switched off',
    'UPDATE accounts SET replays_off_at_ms = 5 WHERE id = 2',
    /"ben" \(acct_ben\): its replays are off, but/,
  ],
  [
    'the price list of an account',
    'UPDATE accounts SET price_list = NULL WHERE id = 1',
    /"ada" \(acct_ada\): it has no price list, but the audit log/,
  ],
  [
    'a price list that nobody gave',
    `UPDATE accounts SET price_list = 'partner' WHERE id = 2`,
    /"ben" \(acct_ben\): it has the price list "partner", but the audit log/,
  ],
  [
    'an account closed',
    'UPDATE accounts SET closed_at_ms = 5 WHERE id = 1',
    /"ada" \(acct_ada\): it is closed, but the audit log/,
  ],
  [
    'the name of a renamed account',
    `UPDATE accounts SET name = 'x' WHERE id = 2`,
    /"x" \(acct_ben\): it was renamed, but the audit log/,
  ],
  [
    'the name of an account, with a first name',
    `UPDATE accounts SET name = 'x', first_name = 'ada' WHERE id = 1`,
    /"x" \(acct_ada\): it was renamed, but the audit log/,
  ],
  [
    'the first name of a renamed account',
    `UPDATE accounts SET first_name = 'x' WHERE id = 2`,
    /"ben" \(acct_ben\) was changed after/,
  ],
  [
    'the name of a renamed key',
    `UPDATE api_keys SET name = 'x' WHERE id = 3`,
    /"ben" .*API key key_spare was renamed, but the audit log/,
  ],
  [
    'the name of a key, with a first name',
    `UPDATE api_keys SET first_name = name, name = 'x' WHERE id = 1`,
    /"ada" .*API key key_\w+ was renamed, but the audit log/,
  ],
  [
    'the first name of a renamed key',
    `UPDATE api_keys SET first_name = 'x' WHERE id = 3`,
    /"ben" .*API key key_\w+ was changed after/,
  ],
  [
    'a key that works again',
    'UPDATE api_keys SET revoked_at_ms = NULL WHERE id = 2',
    /"ben" .*API key key_\w+ is not revoked, but/,
  ],
  [
    'a revoked key',
    'UPDATE api_keys SET revoked_at_ms = 5 WHERE id = 3',
    /"ben" .*API key key_spare is revoked, but/,
  ],
  [
    'the time of a revocation',
    'UPDATE api_keys SET revoked_at_ms = 5 WHERE id = 2',
    /"ben" .*API key key_\w+ is revoked, but/,
  ],
  [
    'an admin token that works again',
    'UPDATE admin_tokens SET revoked_at_ms = NULL WHERE id = 1',
    /Admin token "ben" \(tok_ben\) is not revoked, but the audit log/,
  ],
  [
    'a revoked admin token',
    'UPDATE admin_tokens SET revoked_at_ms = 5 WHERE id = 2',
    /Admin token "cleo" \(tok_cleo\) is revoked, but the audit log/,
  ],
  [
    'the scopes of an admin token',
    "UPDATE admin_tokens SET scopes = 'all' WHERE id = 2",
    /Admin token "cleo" \(tok_cleo\) was changed after/,
  ],
  [
    'an inserted admin token',
    `INSERT INTO admin_tokens SELECT 3, 'tok_eve', 'eve', randomblob(32), prefix, 'all', NULL, NULL, created_by,
      created_at_ms, commit_id, NULL, NULL FROM admin_tokens WHERE id = 2`,
    /Admin token "eve" \(tok_eve\) was inserted/,
  ],
  [
    'the limits of an account',
    `UPDATE limits SET terms = replace(terms, '60', '61') WHERE kind = 'account'`,
    /"ada" \(acct_ada\): its limits are not those that the audit log says/,
  ],
  [
    'the limits of a key',
    `UPDATE limits SET terms = replace(terms, '10', '11') WHERE kind = 'key'`,
    /"ben" .*the limits of API key key_spare are not those/,
  ],
  [
    'the limits of a key with a model',
    `DELETE FROM limits WHERE kind = 'key_model'`,
    /"ben" .*the limits of API key key_spare are not those/,
  ],
  [
    'limits that nobody made',
    `INSERT INTO limits VALUES (2, 'account', 2, '', '{"limits":{"requests_per_minute":1}}')`,
    /"ben" \(acct_ben\): its limits are not those/,
  ],
  [
    'limits of a key of another account',
    `UPDATE limits SET account_id = 1 WHERE kind = 'key_model'`,
    /"ada" \(acct_ada\): it has limits of a key or project that is not its own/,
  ],
  [
    'limits that cannot be read',
    `UPDATE limits SET terms = 'none' WHERE kind = 'account'`,
    /"ada" \(acct_ada\): its limits cannot be read/,
  ],
  [
    'the limits of a project',
    `UPDATE limits SET terms = replace(terms, '20', '21') WHERE kind = 'project'`,
    /"ben" .*the limits of project proj_\w+ are not those/,
  ],
  [
    'limits given to another project',
    `UPDATE limits SET scope_id = 1 WHERE kind = 'project'`,
    /"ben" .*the limits of project proj_\w+ are not those/,
  ],
  [
    'the limits that a new key copied from the defaults',
    `UPDATE limits SET terms = replace(terms, '30', '31') WHERE kind = 'key'`,
    /"ben" .*the limits of API key key_\w+ are not those/,
  ],
  [
    'limits of a project that does not exist',
    `UPDATE limits SET scope_id = 9 WHERE kind = 'project'`,
    /"ben" .*it has limits of a key or project that is not its own/,
  ],
  [
    'the default limits of new keys',
    `UPDATE key_defaults SET terms = replace(terms, '30', '31') WHERE account_id = 0`,
    /The defaults of new keys are not those/,
  ],
  [
    'the models that new keys may call',
    `UPDATE key_defaults SET terms = replace(terms, 'gpt-', '') WHERE account_id = 0`,
    /The defaults of new keys are not those/,
  ],
  [
    'the default limits of the new keys of an account',
    'DELETE FROM key_defaults WHERE account_id = 1',
    /"ada" \(acct_ada\): its new keys have other defaults, but the audit log/,
  ],
  [
    'default limits that nobody made',
    `INSERT INTO key_defaults VALUES (2, '{"limits":{"requests_per_minute":1},"budgets":{}}')`,
    /"ben" \(acct_ben\): its new keys have other defaults, but the audit log/,
  ],
  [
    'the name of a project',
    `UPDATE projects SET name = 'x' WHERE id = 1`,
    /"ben" .*project proj_\w+ has another name than its latest line/,
  ],
  [
    'a project that is open again',
    'UPDATE projects SET closed_at_ms = NULL WHERE id = 1',
    /"ben" .*project proj_\w+ is open, but the audit log/,
  ],
  [
    'a closed project',
    'UPDATE projects SET closed_at_ms = 5 WHERE id = 2',
    /"ben" .*project proj_\w+ is closed, but the audit log/,
  ],
  [
    'the account of a project',
    'UPDATE projects SET account_id = 1 WHERE id = 2',
    /project proj_\w+ was changed after commit/,
  ],
  [
    'the project of a key',
    'UPDATE api_keys SET project_id = 1 WHERE id = 4',
    /"ben" .*API key key_\w+ was changed after commit/,
  ],
  [
    'a key taken out of its project',
    'UPDATE api_keys SET project_id = NULL WHERE id = 4',
    /"ben" .*API key key_\w+ was changed after commit/,
  ],
  [
    'a key put into a project',
    'UPDATE api_keys SET project_id = 2 WHERE id = 3',
    /"ben" .*API key key_spare was changed after commit/,
  ],
  [
    'an inserted secret',
    `INSERT INTO api_key_secrets SELECT 9, 1, 1, randomblob(32), 'tg_live_evil', created_at_ms, commit_id FROM api_key_secrets`,
    /"ada" .*secret tg_live_evil… of API key 1 was inserted/,
  ],
  [
    'another text of a secret',
    'UPDATE api_key_secrets SET hash = randomblob(32)',
    /"ben" .*secret tg_live_next… of API key 3 was changed/,
  ],
  [
    'a secret of another key',
    'UPDATE api_key_secrets SET api_key_id = 1, account_id = 1',
    /"ada" .*secret tg_live_next… of API key 1 was changed/,
  ],
  ['a deleted secret', 'DELETE FROM api_key_secrets', /wrote into "api_key_secrets" is missing/],
  [
    'a later end of a secret',
    'UPDATE api_key_secret_ends SET ends_at_ms = ends_at_ms + 1',
    /"ben" .*the end 1 of a secret of API key 3 was changed/,
  ],
  ['no end of a secret', 'DELETE FROM api_key_secret_ends', /wrote into "api_key_secret_ends" is missing/],
  [
    'an inserted end of a secret',
    'INSERT INTO api_key_secret_ends SELECT 2, account_id, api_key_id, secret, NULL, at_ms, commit_id FROM api_key_secret_ends',
    /"ben" .*the end 2 of a secret of API key 3 was inserted/,
  ],
  [
    'an enabled key',
    'UPDATE api_keys SET disabled_at_ms = NULL WHERE id = 3',
    /"ben" .*API key key_spare is enabled, but/,
  ],
  [
    'a disabled key',
    'UPDATE api_keys SET disabled_at_ms = 5 WHERE id = 1',
    /"ada" .*API key key_\w+ is disabled, but/,
  ],
  [
    'a key whose restrictions were removed',
    'UPDATE api_keys SET settings = NULL WHERE id = 3',
    /"ben" .*API key key_spare is not restricted, but/,
  ],
  [
    'a key that was restricted',
    `UPDATE api_keys SET settings = '{"models":["x"]}' WHERE id = 1`,
    /"ada" .*API key key_\w+ is restricted to \{"models":\["x"\]\}, but/,
  ],
  [
    'the routes of a key',
    `UPDATE api_keys SET settings = replace(settings, 'images', 'videos') WHERE id = 3`,
    /"ben" .*API key key_spare is restricted to .*"videos".*, but/,
  ],
  [
    'the audit line of a suspension',
    `DELETE FROM audit_log WHERE action = 'account.suspend' AND subject = 'acct_ada'`,
    /wrote into "audit_log" is missing/,
  ],
  [
    'the checksums of a commit',
    `UPDATE commits SET checksums = X'0100000000' WHERE id = 3`,
    /The checksums of commit 3 of node "main" were changed/,
  ],
  [
    'no checksums of a commit',
    'UPDATE commits SET checksums = NULL WHERE id = 3',
    /The checksums of commit 3 of node "main" were changed/,
  ],
  [
    'more checksums of a commit',
    `UPDATE commits SET checksums = CAST(checksums || X'6300000000' AS BLOB) WHERE id = 3`,
    /The checksums of commit 3 of node "main"/,
  ],
  ['the hash of a commit', 'UPDATE commits SET hash = zeroblob(32) WHERE id = 3', /commit 3 of node "main"/],
  [
    'the number of a commit',
    'UPDATE commits SET number = 30 WHERE id = 3',
    /Commit 3 of node "main" is missing/,
  ],
  ['the name of a node', `UPDATE nodes SET name = 'x'`, /node "x"/],
  [
    'a price',
    `UPDATE models SET content = ${otherPrice}`,
    /Model "x" is not what the history of the catalog says/,
  ],
  [
    'a price and its history',
    `UPDATE models SET content = ${otherPrice}; UPDATE model_versions SET content = ${otherPrice}`,
    /Revision 2 of the catalog was changed/,
  ],
  [
    'an earlier price',
    `UPDATE model_versions SET content = replace(content, '2.5', '0.1') WHERE revision = 1`,
    /Revision 1 of the catalog, or an earlier one, was changed/,
  ],
  ['when a model was created', 'UPDATE models SET created_at_ms = 5', /Model "x" is not what the history/],
  ['the place of a model', 'UPDATE models SET position = 9', /Model "x" is not what the history/],
  ['a deleted model', 'DELETE FROM models', /Model "x" is missing, but the history of the catalog has it/],
  [
    'a removed model that is back',
    `INSERT INTO models SELECT 'y', 1, content, created_at_ms FROM models`,
    /Model "y" is not what the history/,
  ],
  [
    'an inserted model',
    `INSERT INTO models SELECT 'z', 1, replace(content, '"x"', '"z"'), created_at_ms FROM models`,
    /Model "z" is not what the history/,
  ],
  [
    'the factor of a price list',
    `UPDATE price_lists SET content = replace(content, '0.8', '0.1')`,
    /Price list "partner" is not what the history/,
  ],
  [
    'the factor of a price list and its history',
    `UPDATE price_lists SET content = replace(content, '0.8', '0.1');
      UPDATE price_list_versions SET content = replace(content, '0.8', '0.1')`,
    /Revision 4 of the catalog was changed/,
  ],
  ['a deleted price list', 'DELETE FROM price_lists', /Price list "partner" is missing/],
  [
    'the address of a provider',
    `UPDATE providers SET content = replace(content, 'example', 'evil')`,
    /Provider "main" is not what the history/,
  ],
  [
    'the key of a provider',
    `UPDATE providers SET sealed_secret = X'01'`,
    /Provider "main" is not what the history/,
  ],
  [
    'the key of a provider and its history',
    `UPDATE providers SET sealed_secret = X'01'; UPDATE provider_versions SET sealed_secret = X'01'`,
    /Revision 1 of the catalog, or an earlier one, was changed/,
  ],
  [
    'who changed the catalog',
    `UPDATE catalog_revisions SET actor = 'x' WHERE revision = 2`,
    /Revision 2 of the catalog was changed/,
  ],
  [
    'a deleted revision',
    'DELETE FROM catalog_revisions WHERE revision = 2',
    /Revision 2 of the catalog is missing/,
  ],
  [
    'an inserted revision',
    `INSERT INTO catalog_revisions SELECT 5, actor, action, subject, at_ms FROM catalog_revisions WHERE revision = 3`,
    /Revision 5 of the catalog was inserted/,
  ],
  [
    'a version of an unknown revision',
    `INSERT INTO model_versions SELECT id, 9, position, content FROM model_versions WHERE revision = 2 AND id = 'x'`,
    /Revision 9 of the catalog is missing/,
  ],
  [
    'the revision of the catalog',
    'UPDATE catalog_state SET revision = 7',
    /The catalog is at revision 7, but its newest revision is 4/,
  ],
  [
    'when the catalog changed',
    'UPDATE catalog_state SET updated_at_ms = 7',
    /The time of the last change of the catalog/,
  ],
  [
    'the seal of a revision',
    `UPDATE audit_log SET history_sha256 = 'x' WHERE revision = 2`,
    /Audit line \d+ \(catalog.replace of 2\) was changed after/,
  ],
]

/** Edits that `verify` does not find, because nothing but the next poll or renewal depends on these columns. */
const unfound: readonly (readonly [name: string, edit: string])[] = [
  ['when a job is polled next', 'UPDATE jobs SET next_poll_at_ms = 5 WHERE row_id = 1'],
  ['the state that a provider reported', `UPDATE jobs SET upstream_status = 'x' WHERE row_id = 1`],
  ['the latest problem of a running job', `UPDATE jobs SET problem = 'x' WHERE row_id = 1`],
  ['when an admin token was last used', 'UPDATE admin_tokens SET last_used_day = 5 WHERE id = 2'],
  ['the day on which a key was used', 'UPDATE api_keys SET last_used_day = 5 WHERE id = 3'],
  ['the check of the secret key', 'UPDATE catalog_state SET key_check = NULL'],
]

describe('verify finds, in the later state of a file that another program edited,', () => {
  test('verify finds, in the later state of a file that another program edited, nothing if nothing was edited', async () => {
    expect(await messagesAfter('SELECT 1')).toEqual([])
  })

  test.each(edits)(
    'verify finds, in the later state of a file that another program edited, %s',
    async (_, edit, message) => {
      expect(await messagesAfter(edit)).toContainEqual(expect.stringMatching(message))
    },
  )

  test.each(unfound)(
    'verify does not find, in the later state of a file that another program edited, %s',
    async (_, edit) => {
      expect(await messagesAfter(edit)).toEqual([])
    },
  )

  test(`verify finds, in the later state of a file that another program edited, ${edits.length} of ${edits.length + unfound.length} edits`, () => {
    const found = edits.length / (edits.length + unfound.length)

    expect(found).toBeGreaterThanOrEqual(58 / 63)
  })
})
