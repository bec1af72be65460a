import { randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import { readConfig, type Environment } from '../config/config.ts'
import { formatUsd, parseUsd, ZERO } from '../domain/money.ts'
import { askOf, type Ask } from './ask.ts'
import { restore, type RestoreBackup, type RestoreOptions } from './commands/operating/backup.ts'
import {
  migrateStore,
  type MigrateStore,
  type MigrateStoreOptions,
} from './commands/operating/migrate-store.ts'
import { connect, NO_DATA_FOLDER, type Admin, type OpenAdmin } from './connect.ts'
import { CliError, type Outcome } from './outcome.ts'
import { serve, type StartApp } from './serve.ts'

/** What a command line needs from its process. */
export type Cli = {
  readonly version: string
  readonly environment: Environment
  /** Called only if needed. Commands that use a running gateway do not load the app. */
  readonly loadApp: () => Promise<{
    readonly startApp: StartApp
    readonly openAdmin: OpenAdmin
    readonly restoreBackup: RestoreBackup
    readonly migrateStore: MigrateStore
  }>
  readonly out: (text: string) => void
  readonly err: (text: string) => void
  /** Calls `tick` every `ms` until the returned function is called. The default is the timer of the runtime. */
  readonly every?: (ms: number, tick: () => void) => () => void
  /** Asks the operator a yes-or-no question. Undefined without a terminal. */
  readonly confirm?: ((question: string) => Promise<boolean>) | undefined
}

/** Runs the actions of the commands. */
export type Runner = {
  /**
   * Runs a command that calls the admin API. `mayCreate` creates the data folder if it does not exist. `withoutFolder`
   * is the outcome if it does not exist, given the sentence about it and the environment; the default is an error.
   * `longWork` is the work of a command that can take minutes: its time is reported.
   */
  admin(
    work: (ask: Ask, admin: Admin, isJson: boolean) => Promise<Outcome>,
    options?: {
      readonly mayCreate?: boolean
      readonly withoutFolder?: (missing: string, environment: Environment) => Outcome
      readonly longWork?: string
    },
  ): Promise<void>
  /** Asks before a large credit. Throws a `CliError` unless it is small, `isConfirmed`, or the operator says yes. */
  confirmCredit(amountUsd: string, isConfirmed: boolean): Promise<void>
  /** The idempotency key of a command that moves money: the given one, or a new one that it prints. */
  idempotencyKey(given: string | undefined): string
  /** Restores a backup into the data folder, which no server may use. */
  restore(options: RestoreOptions): Promise<void>
  /** Copies the books of the data folder into the database of the settings. */
  migrateStore(options: MigrateStoreOptions): Promise<void>
  serve(): Promise<void>
}

/** What a command line has done: its command, its connection and its outcome. */
export type Run = { admin?: Admin; outcome?: Outcome; command?: Command }

/** Makes the runner of a command line. `timeoutMs` is the operator's limit, known once the arguments are read. */
export function runnerOf(cli: Cli, isJson: boolean, run: Run, timeoutMs: () => number | undefined): Runner {
  return {
    async admin(work, { mayCreate = false, withoutFolder, longWork } = {}) {
      const config = readConfig(cli.environment)
      const openAdmin: OpenAdmin = async given => (await cli.loadApp()).openAdmin(given)
      const admin = await connect(config, { openAdmin, mayCreate, timeoutMs: timeoutMs() }).catch(
        (error: unknown) => {
          if (!(error instanceof CliError) || error.code !== NO_DATA_FOLDER) throw error
          if (withoutFolder === undefined) throw error
          run.outcome = withoutFolder(error.message, cli.environment)
        },
      )
      if (admin === undefined) return
      run.admin = admin
      const stopReports = longWork === undefined || isJson ? () => undefined : reportTime(longWork, cli)
      try {
        run.outcome = await work(askOf(admin), admin, isJson)
        // While the connection is open: each chunk may be a request.
        for await (const chunk of run.outcome.chunks ?? []) cli.out(chunk)
      } finally {
        stopReports()
        await admin.close()
      }
    },
    async confirmCredit(amountUsd, isConfirmed) {
      const { grantConfirmUsd: limit } = readConfig(cli.environment)
      if (isConfirmed || (parseUsd(amountUsd) ?? ZERO) <= limit) return
      const isLarge = `A credit of ${amountUsd} USD is more than ${formatUsd(limit)} USD.`
      if (isJson || cli.confirm === undefined)
        throw new CliError(`${isLarge} Repeat the command with --yes.`, {
          exitCode: 2,
          code: 'needs_confirmation',
        })
      if (!(await cli.confirm(`${isLarge} Make it? [y/N] `)))
        throw new CliError('Nothing was credited.', { exitCode: 1, code: 'not_confirmed' })
    },
    idempotencyKey(given) {
      if (given !== undefined) return given
      const key = `cli-${randomUUID()}`
      // Before the request, so that it is known even if this process is killed. With --json, the reply has it.
      if (!isJson) cli.err(`Idempotency key: ${key}\n`)
      return key
    },
    async restore(options) {
      const config = readConfig(cli.environment)
      const { restoreBackup } = await cli.loadApp()
      run.outcome = await restore(config, options, (given, asked) =>
        restoreBackup(given, asked, stepsOf(cli, isJson)),
      )
    },
    async migrateStore(options) {
      const config = readConfig(cli.environment)
      const { migrateStore: copy } = await cli.loadApp()
      run.outcome = await migrateStore(config, options, (given, asked) =>
        copy(given, asked, stepsOf(cli, isJson)),
      )
    },
    async serve() {
      await serve(readConfig(cli.environment), cli)
    },
  }
}

/** Names the steps of long work on standard error. */
function stepsOf({ err }: Cli, isJson: boolean): (step: string) => void {
  return isJson ? () => undefined : step => err(`${step} …\n`)
}

const REPORT_TICK_MS = 5000
/** Then one each minute. A job of cron should not fill a log. */
const FIRST_REPORTS_S: ReadonlySet<number> = new Set([5, 15, 30])

/** Says on standard error how long some work takes, while it runs. Returns the function that ends it. */
function reportTime(work: string, { err, every = everyMs }: Cli): () => void {
  let seconds = 0
  return every(REPORT_TICK_MS, () => {
    seconds += REPORT_TICK_MS / 1000
    if (FIRST_REPORTS_S.has(seconds) || seconds % 60 === 0) err(`${work}: ${seconds} s so far …\n`)
  })
}

function everyMs(ms: number, tick: () => void): () => void {
  const timer = setInterval(tick, ms)
  return () => clearInterval(timer)
}
