import { resolve } from 'node:path'
import { CommanderError, type Command } from 'commander'
import { ConfigError, describeConfig, type Environment } from '../config/config.ts'
import { withoutKeyTexts } from '../domain/accounts/api-key-text.ts'
import type { Admin } from './connect.ts'
import { CliError, type Outcome } from './outcome.ts'
import { inWordsOf } from './option-words.ts'
import { buildProgram } from './program.ts'
import { runnerOf, type Cli, type Run } from './runner.ts'
import { storageProblem } from './storage-problem.ts'

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
function placeOf({ books, url, created }: Admin): string {
  const server = url === undefined ? '' : ` (server at ${url})`
  return [`${books}${server}`, ...(created === undefined ? [] : [created])].join('\n')
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
