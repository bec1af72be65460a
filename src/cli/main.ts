import { CommanderError, type Command } from 'commander'
import { ConfigError, readConfig, type Environment } from '../config/config.ts'
import { askOf } from './ask.ts'
import { connect, type OpenAdmin } from './connect.ts'
import { CliError, type Outcome } from './outcome.ts'
import { buildProgram, type Runner } from './program.ts'
import { serve, type StartApp } from './serve.ts'

export type Cli = {
  readonly version: string
  readonly environment: Environment
  /** Called only if needed. Commands that use a running gateway do not load the app. */
  readonly loadApp: () => Promise<{ readonly startApp: StartApp; readonly openAdmin: OpenAdmin }>
  readonly out: (text: string) => void
  readonly err: (text: string) => void
}

/**
 * Runs one command line. Resolves with the exit code: 0 success, 1 refused or a problem found, 2 wrong arguments or
 * settings.
 */
export async function main(argv: readonly string[], cli: Cli): Promise<0 | 1 | 2> {
  const isJson = argv.includes('--json')
  let outcome: Outcome | undefined
  const program = buildProgram(
    runnerOf(cli, isJson, result => {
      outcome = result
    }),
    cli.version,
  )
  configureOutput(program, cli, isJson)
  try {
    await program.parseAsync(argv, { from: 'user' })
  } catch (error) {
    return failed(error, cli, isJson)
  }
  if (outcome === undefined) return 0
  print(outcome, cli, isJson)
  return outcome.exitCode ?? 0
}

function runnerOf(cli: Cli, isJson: boolean, finish: (outcome: Outcome) => void): Runner {
  return {
    async admin(work, { mayCreate = false } = {}) {
      const config = readConfig(cli.environment)
      const openAdmin: OpenAdmin = async given => (await cli.loadApp()).openAdmin(given)
      const admin = await connect(config, { openAdmin, mayCreate })
      try {
        finish(await work(askOf(admin), admin, isJson))
      } finally {
        await admin.close()
      }
    },
    async serve() {
      await serve(readConfig(cli.environment), cli)
    },
  }
}

/** Keeps Commander from exiting the process and, with `--json`, from writing errors as text. */
function configureOutput(command: Command, cli: Cli, isJson: boolean): void {
  command.exitOverride().configureOutput({
    writeOut: cli.out,
    writeErr: text => {
      if (!isJson) cli.err(text)
    },
  })
  for (const child of command.commands) configureOutput(child, cli, isJson)
}

function print({ value, text, note }: Outcome, { out, err }: Cli, isJson: boolean): void {
  if (isJson) {
    out(jsonText(value))
    return
  }
  if (text !== '') out(`${text}\n`)
  if (note !== undefined) err(`${note}\n`)
}

function failed(error: unknown, { out, err }: Cli, isJson: boolean): 0 | 1 | 2 {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return 0
    if (isJson) {
      const message = error.message
        .replace('(outputHelp)', 'The command is missing. Use --help to list the commands.')
        .replace(/^error: /, '')
        .replaceAll('\n', ' ')
      out(jsonText({ error: { message, type: 'command_error', code: 'invalid_argument' } }))
    }
    return 2
  }
  const { message, body, exitCode } = cliErrorOf(error)
  if (isJson) out(jsonText(body))
  else err(`${message}\n`)
  return exitCode
}

function jsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

function cliErrorOf(error: unknown): CliError {
  if (error instanceof CliError) return error
  if (error instanceof ConfigError) {
    const { message, problems } = error
    const body = { error: { message, type: 'command_error', code: 'invalid_setting', problems } }
    return new CliError(message, { exitCode: 2, code: 'invalid_setting', body })
  }
  const message = error instanceof Error ? error.message : String(error)
  return new CliError(message, { exitCode: 1, code: 'failed' })
}
