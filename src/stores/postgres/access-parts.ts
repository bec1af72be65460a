import { nanoUsd } from '../../domain/money.ts'
import type { Authenticated } from '../../gateway/ports/api-keys.ts'
import { accountEvents, type AccountContents } from '../books/access/changes.ts'
import { presentedKeys } from '../books/access/kept-keys.ts'
import { limitChanges, type LimitUsage } from '../books/access/limit-changes.ts'
import type { UsageSource } from '../books/access/project-usage.ts'
import { atOnce, first, run, type Engine } from '../books/steps.ts'

/** What the steps of accounts, keys and projects ask of the rest of a PostgreSQL store. */
export function accessParts(parts: { readonly engine: Engine } & Parameters<typeof accountEvents>[0]) {
  const { engine } = parts
  return {
    engine,
    forgetKeys: () => run('INSERT INTO access_changes DEFAULT VALUES'),
    changeLimits: limitChanges(limitUsage),
    accountContents,
    accountEvents: accountEvents(parts),
    usageSource,
    authenticate: (hash: string) => readKey(engine, hash),
  }
}

/** The upgrade that adds up earlier charges belongs to SQLite. */
const isComplete = () => atOnce(() => true)

export const usageSource: UsageSource = { isComplete, pause: async () => undefined }

const limitUsage: LimitUsage = {
  isComplete,
  lock: accountId => run('SELECT FROM balances WHERE account_id = ? FOR NO KEY UPDATE', accountId),
  // Usage under limits is not counted yet.
  recount: () => atOnce(() => undefined),
}

const accountContents: AccountContents = {
  *of(accountId) {
    const books = yield* first<{ available: bigint; held: bigint }>(
      `SELECT available - reserved AS available, held_text + held_media + reserved AS held
        FROM balances WHERE account_id = ? FOR NO KEY UPDATE`,
      accountId,
    )
    const open = yield* first<{ requests: bigint; jobs: bigint }>(
      `SELECT (SELECT count(*) FROM text_holds WHERE account_id = ? AND expired_at_ms IS NULL) AS requests,
        (SELECT count(*) FROM holds WHERE account_id = ? AND state = 'open') AS jobs`,
      accountId,
      accountId,
    )
    return {
      available: nanoUsd(books?.available ?? 0n),
      held: nanoUsd(books?.held ?? 0n),
      openRequests: Number(open?.requests ?? 0n),
      openJobs: Number(open?.jobs ?? 0n),
    }
  },
  // Every hold reads the row of its account.
  close: () => atOnce(() => undefined),
}

async function readKey(engine: Engine, hash: string): Promise<Authenticated | undefined> {
  const [found] = await engine.read(() => presentedKeys([Buffer.from(hash, 'base64')]))
  return found?.authenticated
}
