import { InvalidArgumentError, type Command } from 'commander'
import { BUDGET_MAX } from '../../domain/limits/limits-row.ts'
import { RATE_MAX } from '../../domain/limits/rate-bucket.ts'
import { budgetPeriods } from '../../domain/limits/scope.ts'
import { formatUsd, parseUsd } from '../../domain/money.ts'
import { NONE, setLimits, type BudgetOptions, type LimitOptions } from '../commands/accounts/limits.ts'
import { needsOptions } from '../option-words.ts'
import type { Runner } from '../runner.ts'

/** Adds the options of limits and budgets to a command. */
export function withLimits(command: Command): Command {
  return command
    .option('--rpm <number>', 'requests a minute; none removes the limit', limitOrNone)
    .option('--tpm <number>', 'tokens a minute; none removes the limit', limitOrNone)
    .option('--concurrent <number>', 'open requests and jobs; none removes the limit', limitOrNone)
    .option(
      '--budget <period=usd>',
      'dollars for each day, week or month in UTC, or in total; can be given several times',
      budgetOf,
    )
}

/** Adds the option that makes the limits those of a model. */
export function forOneModel(command: Command): Command {
  return command.option('--for-model <model>', 'the limits and budgets are only for requests with this model')
}

const thingOf = { accounts: 'an account', projects: 'a project' } as const

/** Adds `set` to the commands of accounts or projects. */
export function addSet(
  parent: Command,
  of: { readonly kind: keyof typeof thingOf; readonly argument: string; readonly words: string },
  runner: Runner,
): void {
  const { kind, argument, words } = of
  const set = withLimits(parent.command('set'))
  // A project has no limits for single models.
  if (kind !== 'projects') forOneModel(set)
  needsOptions(set, ['forModel'])
    .argument(`<${argument}>`, words)
    .description(`Change the limits and budgets of ${thingOf[kind]}, and show them.`)
    .addHelpText(
      'after',
      `\n  $ tollgate ${kind} set <${argument}> --rpm 60 --budget month=20 --budget day=none`,
    )
    .action((name: string, options: LimitOptions) =>
      runner.admin(ask => setLimits(ask, { kind, name }, options)),
    )
}

/** A limit such as 60, or `none`: the library for commands reads null as an empty text. */
function limitOrNone(text: string): number | typeof NONE {
  if (text === NONE) return NONE
  const limit = /^\d{1,12}$/.test(text) ? Number(text) : 0
  if (limit >= 1 && limit <= RATE_MAX) return limit
  throw new InvalidArgumentError(`Write a whole number from 1 to ${RATE_MAX}, or ${NONE}.`)
}

/** A budget such as month=20, or month=none, beside the earlier ones of the command. */
function budgetOf(text: string, earlier: BudgetOptions = {}): BudgetOptions {
  const [name, usd = '', ...rest] = text.split('=')
  const period = budgetPeriods.find(known => known === name)
  const parsed = usd === NONE ? null : parseUsd(usd)
  const isAmount = parsed === null || (parsed !== undefined && parsed >= 0n && parsed <= BUDGET_MAX)
  if (period === undefined || rest.length > 0 || !isAmount)
    throw new InvalidArgumentError(
      `Write ${budgetPeriods.join(', ')} with an amount in dollars, such as month=20, or month=${NONE}. The most is ${formatUsd(BUDGET_MAX)}.`,
    )
  return { ...earlier, [period]: parsed === null ? null : usd }
}
