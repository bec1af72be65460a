import { randomUUID } from 'node:crypto'
import { resolve } from 'node:path'
import { CommanderError, type Command } from 'commander'
import { ConfigError, describeConfig, readConfig, type Environment } from '../config/config.ts'
import { withoutKeyTexts } from '../domain/accounts/api-key-text.ts'
import { formatUsd, parseUsd, ZERO } from '../domain/money.ts'
import { askOf } from './ask.ts'
import { restore, type RestoreBackup } from './commands/backup.ts'
import { connect, type Admin, type OpenAdmin } from './connect.ts'
import { CliError, type Outcome } from './outcome.ts'
import { inWordsOf } from './option-words.ts'
import { buildProgram, type Runner } from './program.ts'
import { serve, type StartApp } from './serve.ts'
import { storageProblem } from './storage-problem.ts'

export type Cli = {
  readonly version: string
  readonly environment: Environment
  /** Called only if needed. Commands that use a running gateway do not load the app. */
  readonly loadApp: () => Promise<{
    readonly startApp: StartApp
    readonly openAdmin: OpenAdmin
    readonly restoreBackup: RestoreBackup
  }>
  readonly out: (text: string) => void
  readonly err: (text: string) => void
  /** Calls `tick` every `ms` until the returned function is called. The default is the timer of the runtime. */
  readonly every?: (ms: number, tick: () => void) => () => void
  /** Asks the operator a yes-or-no question. Undefined without a terminal. */
  readonly confirm?: ((question: string) => Promise<boolean>) | undefined
}

/**
 * Runs one command line. Resolves with the exit code: 0 success, 1 refused or a problem found, 2 wrong arguments or
 * settings.
 */
export async function main(argv: readonly string[], cli: Cli): Promise<0 | 1 | 2> {
  const isJson = argv.includes('--json')
  const run: Run = {}
  const program = buildProgram(
    runnerOf(cli, isJson, run, () => program.opts<GlobalOptions>().timeout),
    cli.version,
  )
  configureOutput(program, cli, isJson)
  program.hook('preAction', (_, command) => {
    run.command = command
  })
  try {
    await program.parseAsync(argv, { from: 'user' })
    if (run.outcome !== undefined) print(run.outcome, cli, isJson)
    return run.outcome?.exitCode ?? 0
  } catch (error) {
    return failed(inWords(error, run.command), cli, isJson)
  } finally {
    if (run.admin !== undefined && !isJson) cli.err(`${placeOf(run.admin)}\n`)
  }
}

/** The options that every command has. */
type GlobalOptions = { readonly timeout?: number }

/** The state of a command line. */
type Run = { admin?: Admin; outcome?: Outcome; command?: Command }

/** `timeoutMs` is the operator's limit, which is known once the arguments are read. */
function runnerOf(cli: Cli, isJson: boolean, run: Run, timeoutMs: () => number | undefined): Runner {
  return {
    async admin(work, { mayCreate = false, longWork } = {}) {
      const config = readConfig(cli.environment)
      const openAdmin: OpenAdmin = async given => (await cli.loadApp()).openAdmin(given)
      const admin = await connect(config, { openAdmin, mayCreate, timeoutMs: timeoutMs() })
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
      const onStep = isJson ? () => undefined : (step: string) => cli.err(`${step} …\n`)
      run.outcome = await restore(config, options, (given, asked) => restoreBackup(given, asked, onStep))
    },
    async serve() {
      await serve(readConfig(cli.environment), cli)
    },
  }
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

/** Keeps Commander from exiting the process and, with `--json`, from writing errors as text. */
function configureOutput(command: Command, cli: Cli, isJson: boolean): void {
  command.exitOverride().configureOutput({
    writeOut: cli.out,
    writeErr: text => {
      if (!isJson) cli.err(withoutKeyTexts(text))
    },
  })
  for (const child of command.commands) configureOutput(child, cli, isJson)
}

function print({ value, text, note, chunks }: Outcome, { out, err }: Cli, isJson: boolean): void {
  if (chunks !== undefined) return
  if (isJson) {
    out(jsonText(value))
    return
  }
  if (text !== '') out(`${text}\n`)
  if (note !== undefined) err(`${note}\n`)
}

/**
 * Where the command worked. The data folder may be another one than the operator expects, because its setting may be
 * relative.
 */
function placeOf({ dataDir, url, created }: Admin): string {
  const server = url === undefined ? '' : ` (server at ${url})`
  return [`Data folder: ${dataDir}${server}`, ...(created === undefined ? [] : [created])].join('\n')
}

/** The API names its fields. An operator knows options and arguments. */
function inWords(error: unknown, command: Command | undefined): unknown {
  if (!(error instanceof CliError) || error.exitCode !== 2 || command === undefined) return error
  const message = inWordsOf(command, error.message)
  if (message === error.message) return error
  const { error: fields } = error.body as { readonly error: object }
  const body = { ...error.body, error: { ...fields, message } }
  return new CliError(message, { exitCode: error.exitCode, code: error.code, body })
}

/** An operator can have typed a key in a wrong place, so no message repeats the text of one. */
function failed(error: unknown, { out, err, environment }: Cli, isJson: boolean): 0 | 1 | 2 {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return 0
    if (isJson) {
      const message = error.message
        .replace('(outputHelp)', 'The command is missing. Use --help to list the commands.')
        .replace(/^error: /, '')
        .replaceAll('\n', ' ')
      out(withoutKeyTexts(jsonText({ error: { message, type: 'command_error', code: 'invalid_argument' } })))
    }
    return 2
  }
  const { message, body, exitCode } = cliErrorOf(error, environment)
  if (isJson) out(withoutKeyTexts(jsonText(body)))
  else err(withoutKeyTexts(`${message}\n`))
  return exitCode
}

function jsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

function cliErrorOf(error: unknown, environment: Environment): CliError {
  if (error instanceof CliError) return error
  if (error instanceof ConfigError) {
    const { message, problems } = error
    const body = { error: { message, type: 'command_error', code: 'invalid_setting', problems } }
    return new CliError(message, { exitCode: 2, code: 'invalid_setting', body })
  }
  const problem = storageProblem(error, dataDirOf(environment))
  if (problem !== undefined) return new CliError(problem, { exitCode: 1, code: 'data_folder_unusable' })
  const message = error instanceof Error ? error.message : String(error)
  return new CliError(message, { exitCode: 1, code: 'failed' })
}

function dataDirOf(environment: Environment): string {
  const setting = describeConfig(environment).find(({ name }) => name === 'TOLLGATE_DATA_DIR')
  return resolve(setting?.value ?? '')
}
