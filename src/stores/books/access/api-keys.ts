import { patchKey, settingsDetail, type ApiKey, type KeyPatch } from '../../../domain/accounts/api-key.ts'
import { settingsOfNewKey } from '../../../domain/accounts/key-defaults.ts'
import {
  revokeSecret,
  rotateSecret,
  rotationDetail,
  type NewEnd,
} from '../../../domain/accounts/key-secrets.ts'
import { writeKeySettings } from '../../../domain/accounts/key-settings.ts'
import { GatewayError } from '../../../domain/errors.ts'
import { patchLimits } from '../../../domain/limits/limits-row.ts'
import type { Editor } from '../../../gateway/ports/access/accounts.ts'
import type {
  ApiKeys,
  Authenticated,
  KeyName,
  KeyPage,
  OwnedKey,
} from '../../../gateway/ports/access/api-keys.ts'
import type { Audit } from '../../../gateway/ports/access/audit.ts'
import { apiKeysTable, keySecretsTable } from '../rows/access-tables.ts'
import type { ApiKeyRow, ProjectRow } from '../rows/account-rows.ts'
import { cursorOf, pageOf, readCursor, ROW_ID_MAX } from '../cursors.ts'
import { CONTAINS, NAME_CONTAINS, namePatterns, partOfText } from '../part-of-text.ts'
import { all, first, insert, run, type StepRunner, type Step } from '../steps.ts'
import { appendAudit } from './audit-log.ts'
import type { ForgetKeys } from './changes.ts'
import { refuseClosed } from './closed-accounts.ts'
import { defaultsOfNewKey } from './key-defaults.ts'
import { addEnds, keysFrom } from './key-secrets.ts'
import { KeyUses } from './key-uses.ts'
import type { ChangeLimits } from './limit-changes.ts'

type NewKey = Parameters<ApiKeys['create']>[0]
type NewSecret = Parameters<ApiKeys['rotate']>[1]

type Parts = {
  readonly stepRunner: StepRunner
  readonly forgetKeys: ForgetKeys
  readonly changeLimits: ChangeLimits
  /** Finds a key by the hash in base64. */
  readonly authenticate: (hash: string) => Promise<Authenticated | undefined>
}

/** The API keys port of one node. */
export class StoredApiKeys implements ApiKeys {
  readonly #parts: Parts
  readonly #uses: KeyUses

  constructor(parts: Parts) {
    this.#parts = parts
    this.#uses = new KeyUses(parts.stepRunner)
  }

  create(request: NewKey): Promise<ApiKey> {
    return this.#parts.stepRunner.write('access', () => createKey(this.#parts, request))
  }

  list(accountId: number): Promise<readonly ApiKey[]> {
    return this.#parts.stepRunner.read(() => keysWhere('account_id = ? ORDER BY id', accountId))
  }

  listAll(page: KeyPage): ReturnType<ApiKeys['listAll']> {
    return this.#parts.stepRunner.read(() => pageOfKeys(page))
  }

  find(by: KeyName): Promise<readonly ApiKey[]> {
    return this.#parts.stepRunner.read(() => keysBy(by))
  }

  update(publicId: string, patch: KeyPatch, by: Editor): Promise<ApiKey> {
    return this.#parts.stepRunner.write('access', () => updateKey(this.#parts, publicId, patch, by))
  }

  rotate(publicId: string, secret: NewSecret, by: Editor): Promise<ApiKey> {
    return this.#parts.stepRunner.write('access', () => rotateKey(this.#parts, publicId, secret, by))
  }

  revokeSecret(publicId: string, prefix: string, by: Editor): Promise<ApiKey> {
    return this.#parts.stepRunner.write('access', () => endSecret(this.#parts, publicId, prefix, by))
  }

  authenticate(hash: string): Promise<Authenticated | undefined> {
    return this.#parts.authenticate(hash)
  }

  noteUse(key: ApiKey, atMs: number): void {
    this.#uses.note(key, atMs)
  }

  writeUses(): Promise<void> {
    return this.#uses.write()
  }
}

function* createKey({ changeLimits }: Parts, request: NewKey): Step<ApiKey> {
  const { publicId, accountId, projectId, name, hash, prefix, limits, audit } = request
  const { actor, atMs } = audit
  yield* refuseClosed(accountId, 'keys')
  if (projectId !== undefined) yield* refuseProject(accountId, projectId)
  const id = yield* insert(apiKeysTable, {
    public_id: publicId,
    account_id: accountId,
    project_id: projectId ?? null,
    name,
    hash,
    prefix,
    created_at_ms: atMs,
  })
  if (id === null) throw new Error(`The API key ${publicId} is in use.`)
  const defaults = yield* defaultsOfNewKey(accountId)
  const settings = { ...settingsOfNewKey(defaults, atMs), ...request.settings }
  const isPlain = Object.keys(settings).length === 0
  yield* appendAudit(isPlain ? audit : { ...audit, detail: settingsDetail(settings) })
  if (!isPlain) yield* writeChanges(patchKey(yield* keyOf(publicId), { settings }, atMs).key)
  const line = { action: 'key.limits', subject: publicId }
  const owner = { accountId, apiKeyId: Number(id) }
  const { limits: rates, budgets } = defaults
  const own = patchLimits({ limits: rates, budgets, perModel: {} }, limits ?? {})
  for (const change of yield* changeLimits(owner, own, line, { isNew: true }))
    yield* appendAudit({ ...change, actor, atMs })
  return yield* keyOf(publicId)
}

function* updateKey(parts: Parts, publicId: string, patch: KeyPatch, by: Editor): Step<ApiKey> {
  const before = yield* keyOf(publicId)
  const owner = { accountId: before.accountId, apiKeyId: before.id }
  const line = { action: 'key.limits', subject: publicId }
  const limits = yield* parts.changeLimits(owner, patch.limits, line)
  const { key, changes } = patchKey(before, patch, by.atMs)
  const lines = [...limits, ...changes.map(change => ({ ...change, subject: publicId }))]
  for (const change of lines) yield* appendAudit({ ...by, ...change })
  if (changes.length === 0) return before
  yield* writeChanges(key)
  yield* parts.forgetKeys()
  return key
}

function* rotateKey(parts: Parts, publicId: string, secret: NewSecret, by: Editor): Step<ApiKey> {
  const { hash, prefix, oldEndsAtMs } = secret
  const { atMs } = by
  const key = yield* keyOf(publicId)
  const { accountId, id } = key
  yield* refuseClosed(accountId, 'keys')
  const ends = rotateSecret(key, { oldEndsAtMs, nowMs: atMs })
  const row = { account_id: accountId, api_key_id: id, hash, prefix, created_at_ms: atMs }
  if ((yield* insert(keySecretsTable, row)) === null)
    throw new Error(`The new secret of ${publicId} is in use.`)
  const names = { prefix, oldPrefix: key.prefix, oldEndsAtMs: Math.max(oldEndsAtMs, atMs) }
  const line = { ...by, action: 'key.rotate', subject: publicId, detail: rotationDetail(names) }
  return yield* endSecrets(parts, key, ends, line)
}

function* endSecret(parts: Parts, publicId: string, prefix: string, by: Editor): Step<ApiKey> {
  const key = yield* keyOf(publicId)
  const ends = revokeSecret(key, prefix, by.atMs)
  if (ends.length === 0) return key
  const line = { ...by, action: 'key.revoke_secret', subject: publicId, detail: prefix }
  return yield* endSecrets(parts, key, ends, line)
}

function* endSecrets({ forgetKeys }: Parts, key: ApiKey, ends: readonly NewEnd[], line: Audit): Step<ApiKey> {
  yield* addEnds(key, ends, line.atMs)
  yield* appendAudit(line)
  yield* forgetKeys()
  return yield* keyOf(key.publicId)
}

/** Refuses a project of another account, and one that is closed. */
function* refuseProject(accountId: number, projectId: number): Step<void> {
  const project = yield* first<ProjectRow>('SELECT * FROM projects WHERE id = ?', projectId)
  const problem =
    project === undefined || Number(project.account_id) !== accountId
      ? 'This account has no such project.'
      : project.closed_at_ms !== null &&
        `The project "${project.name}" is closed. Create the key in another one.`
  if (problem !== false) throw new GatewayError('invalid_field', problem, { param: 'project' })
}

function writeChanges({ id, name, revokedAtMs, disabledAtMs, settings }: ApiKey): Step<void> {
  // The first name is kept from the first rename on.
  return run(
    `UPDATE api_keys SET first_name = CASE WHEN name = ? THEN first_name ELSE coalesce(first_name, name) END, name = ?,
        revoked_at_ms = ?, disabled_at_ms = ?, settings = ?
      WHERE id = ?`,
    name,
    name,
    revokedAtMs,
    disabledAtMs,
    writeKeySettings(settings),
    id,
  )
}

type OwnedKeyRow = ApiKeyRow & {
  account_public_id: string | null
  account_name: string | null
  project_public_id: string | null
}

function* pageOfKeys({ limit, cursor, search = '' }: KeyPage) {
  const before = cursor === undefined ? ROW_ID_MAX : readCursor(cursor).value
  const [condition, values] = search === '' ? ['', []] : [MATCHING, matchOf(search)]
  const rows = yield* all<OwnedKeyRow>(
    `SELECT key.*, accounts.public_id AS account_public_id, accounts.name AS account_name,
        projects.public_id AS project_public_id
      FROM (SELECT * FROM api_keys WHERE ${condition} id < ? ORDER BY id DESC LIMIT ?) AS key
        LEFT JOIN accounts ON accounts.id = key.account_id
        LEFT JOIN projects ON projects.id = key.project_id
      ORDER BY key.id DESC`,
    ...values,
    before,
    limit + 1,
  )
  const { shown, ...next } = pageOf(rows, limit, ({ id }) => cursorOf(id))
  const keys = yield* keysFrom(shown)
  const rowOf = new Map(shown.map(row => [Number(row.id), row]))
  return { keys: keys.map(key => ownedKey(key, rowOf.get(key.id))), ...next }
}

function ownedKey(key: ApiKey, row: OwnedKeyRow | undefined): OwnedKey {
  const [publicId, name] = [row?.account_public_id, row?.account_name]
  const account = typeof publicId === 'string' && typeof name === 'string' ? { publicId, name } : null
  return { key, account, project: row?.project_public_id ?? null }
}

const MATCHING = `(${NAME_CONTAINS} OR public_id ${CONTAINS} OR prefix ${CONTAINS}
  OR account_id IN (SELECT id FROM accounts WHERE ${NAME_CONTAINS})) AND`

function matchOf(search: string): readonly string[] {
  const [part, name] = [partOfText(search), namePatterns(search)]
  return [...name, part, part, ...name]
}

function* keyOf(publicId: string): Step<ApiKey> {
  const [key] = yield* keysBy({ publicId })
  if (key === undefined) throw new RangeError(`There is no API key ${publicId}.`)
  return key
}

function keysBy(by: KeyName): Step<readonly ApiKey[]> {
  if ('publicId' in by) return keysWhere('public_id = ?', by.publicId)
  if ('hash' in by)
    return keysWhere('hash = ? OR id = (SELECT api_key_id FROM api_key_secrets WHERE hash = ?)', by.hash)
  // Reads all keys: only operators look for one, and rarely.
  return keysWhere(
    'prefix = ? OR id IN (SELECT api_key_id FROM api_key_secrets WHERE prefix = ?) ORDER BY id',
    by.prefix,
  )
}

/** The keys of a condition, in which all question marks are one value. */
function* keysWhere(condition: string, value: string | number | Uint8Array): Step<readonly ApiKey[]> {
  const values = Array.from(condition.matchAll(/\?/g), () => value)
  return yield* keysFrom(yield* all<ApiKeyRow>(`SELECT * FROM api_keys WHERE ${condition}`, ...values))
}
