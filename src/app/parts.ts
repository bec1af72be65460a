import { createHash, randomBytes } from 'node:crypto'
import { describeConfig, isProxyNamed, secretFromEnvironment, type Config } from '../config/config.ts'
import type { Provider } from '../domain/catalog/provider.ts'
import { idSource } from '../domain/ids.ts'
import type { NanoUsd } from '../domain/money.ts'
import type { HoldKind } from '../domain/ledger/books.ts'
import type { Clock } from '../gateway/ports/clock.ts'
import { LateAnswers } from '../gateway/upstreams/late-answers.ts'
import type { Moderator } from '../gateway/ports/moderator.ts'
import type { TextPorts } from '../gateway/text/run-text.ts'
import { CircuitBreakers } from '../gateway/upstreams/circuit-breakers.ts'
import type { AdminPorts } from '../http/admin/call.ts'
import type { HashKey } from '../http/authenticate.ts'
import { openAiModerations } from '../providers/moderation/openai-moderations.ts'
import { fetchClient } from '../http1/client/fetch-client.ts'
import { httpClient, type HttpClient } from '../http1/client/http-client.ts'
import { Timers } from '../http1/timers.ts'
import { openAiCompatible } from '../providers/openai-compatible/openai-compatible.ts'
import { providerProbe } from '../providers/probe.ts'
import { sandbox } from '../providers/sandbox/sandbox.ts'
import { reconcileOnce } from '../reconciler/reconcile-once.ts'
import { MemoryLeases } from '../stores/memory/leases.ts'
import { openSqliteStore } from '../stores/sqlite/store.ts'
import { boundedWriter } from '../telemetry/bounded-writer.ts'
import { errorFields, openLog, type Log } from '../telemetry/log.ts'
import { openTokenizer } from '../tokenizer/tokenizer.ts'
import type { DataFolder } from './data-folder.ts'
import { guardedLedger } from './guarded-ledger.ts'
import { systemClock } from './system-clock.ts'

/** The opened parts that every command of a data folder needs. */
export type Parts = {
  readonly log: Log
  readonly clock: Clock
  readonly admin: AdminPorts
  readonly onReconcileFailed: (error: unknown) => void
  readonly text: Omit<TextPorts, 'holds'> & { readonly hashKey: HashKey }
  readonly heldNow: (kind: HoldKind) => NanoUsd
  /** Rejects if the store cannot be read or written. */
  readonly probeStore: () => Promise<void>
  readonly close: () => Promise<void>
}

/** Log lines are buffered this long. A stop writes the buffer. */
const LOG_DELAY_MS = 20

/**
 * Opens the store and makes the parts around it. Throws `DataFolderInUseError` while another process has the folder.
 */
export function openParts(config: Config, folder: DataFolder, clock: Clock = systemClock): Parts {
  const log = openLog({
    level: config.logLevel,
    write: boundedWriter(
      (text, done) => process.stdout.write(text, done),
      () => clock.now(),
    ),
    now: () => clock.now(),
    defer: flush => setTimeout(flush, LOG_DELAY_MS),
  })
  const store = openSqliteStore({ path: folder.database, secretKey: () => folder.secretKey() })
  const { attempts, accounts, catalog, auditLog } = store
  const ledger = guardedLedger(store.ledger, store.isWritable)
  const newId = idSource({
    now: () => clock.now(),
    random64: randomInBulk(),
    after: store.lastKey(),
  })
  const secretOf = ({ secret }: Provider) => {
    if (secret.from === 'environment') return secretFromEnvironment(secret.variable)
    return secret.from === 'literal' ? secret.value : undefined
  }
  const onSettleFailed = (error: unknown) =>
    log.error('the end of a request could not be written', errorFields(error))
  const leases = new MemoryLeases(clock)
  const onReconcileFailed = (error: unknown) => log.error('the reconciler failed', errorFields(error))
  const timers = new Timers(clock)
  const http = isProxyNamed() ? fetchClient(timers) : httpClient(timers)
  const tokenizer = openTokenizer()
  const settings = describeConfig()
  const moderator = moderatorOf(config, http)
  const { isSandboxOn } = config
  const admin: AdminPorts = {
    accounts,
    ledger,
    reconcile: () => reconcileOnce({ attempts, ledger, leases, clock, onFailed: onReconcileFailed }),
    catalog,
    auditLog,
    clock,
    newId,
    randomBytes: count => randomBytes(count),
    sha256: text => createHash('sha256').update(text).digest(),
    isSandboxOn,
    probeProvider: providerProbe({ secretOf, isSandboxOn, http }),
    moderator,
    settings: () => settings,
  }
  const text = {
    accounts,
    catalog,
    clock,
    secretOf,
    moderator,
    onSettleFailed,
    attempts,
    lateAnswers: new LateAnswers({ attempts, clock, onFailed: onSettleFailed }),
    hashKey: (key: string) => Bun.SHA256.hash(key, 'base64'),
    providers: {
      'openai-compatible': openAiCompatible({ timers, secretOf, http }),
      sandbox: sandbox({ clock }),
    },
    tokenizer,
    circuitBreakers: new CircuitBreakers({ catalog, clock }),
    random: () => Math.random(),
  }
  return {
    log,
    clock,
    admin,
    onReconcileFailed,
    text,
    heldNow: kind => ledger.heldNow(kind),
    probeStore: async () => {
      await auditLog.list({ limit: 1 })
      if (!store.isWritable()) throw new Error('The last commit failed.')
    },
    close: async () => {
      http.close()
      tokenizer.close()
      await store.close()
      log.flush()
    },
  }
}

/** Random 64-bit integers. They are generated in bulk, because one call per integer is slow. */
function randomInBulk(): () => bigint {
  const drawn = new BigInt64Array(512)
  let used = drawn.length
  return () => {
    if (used === drawn.length) {
      crypto.getRandomValues(drawn)
      used = 0
    }
    used += 1
    return drawn[used - 1] ?? 0n
  }
}

function moderatorOf({ moderationUrl, moderationKey }: Config, http: HttpClient): Moderator | undefined {
  if (moderationUrl === undefined) return undefined
  return openAiModerations({ url: moderationUrl, key: moderationKey }, { http })
}
