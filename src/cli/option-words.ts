import type { Command } from 'commander'

/**
 * The options and arguments of fields and parameters of the admin API that have another name there. A path stands for
 * all paths below it.
 */
const wordOf = new Map(
  Object.entries({
    'limits.requests_per_minute': 'rpm',
    'limits.tokens_per_minute': 'tpm',
    'limits.concurrent_requests': 'concurrent',
    'budgets.day': 'budget day',
    'budgets.week': 'budget week',
    'budgets.month': 'budget month',
    'budgets.total': 'budget total',
    per_model: 'for-model',
    models: 'model',
    routes: 'route',
    allowed_addresses: 'address',
    expires_at: 'expires',
    events: 'event',
    group_by: 'by',
    grants_per_day_usd: 'grants-per-day',
    scopes: 'scope',
    amount_usd: 'usd',
    alert_below_usd: 'usd',
  }),
)

/**
 * A message of the admin API in the words of a command: `"group_by" needs …` is `--by needs …`. Names of fields that
 * are no option and no argument of the command stay as they are.
 */
export function inWordsOf(command: Command, message: string): string {
  const inWords = (text: string, path: string) => spelled(command, path) ?? text
  return (
    message
      // After these words, quotes are around a value.
      .replace(/(?<!\b(?:be|as|or|scope) )"([a-z_]+)"/g, inWords)
      .replace(
        /(?<=^|[.?] )([a-z_]+(?:\[\d+\])?(?:\.[^"]*?)?)(?= (?:is|are|has|have|must|needs|changes)\b)/g,
        inWords,
      )
  )
}

/** The option or the argument of the command for a path such as `models[0]` or `per_model.gpt-x.limits`. */
function spelled(command: Command, path: string): string | undefined {
  // The option of prices begins with the model.
  const price = /^prices\.(.+)$/.exec(path)?.[1]
  if (price !== undefined) return `--price ${price}`
  const ofModel = /^per_model\..+\.((?:limits|budgets)\.[a-z_]+)$/.exec(path)?.[1]
  const asked = ofModel ?? path
  const parts = asked.split(/[.[]/)
  for (let count = parts.length; count > 0; count -= 1) {
    const field = parts.slice(0, count).join('.')
    const words = wordOf.get(field) ?? field.replaceAll('_', '-')
    const [name = ''] = words.split(' ')
    if (command.options.some(({ long }) => long === `--${name}`)) return `--${words}`
    if (command.registeredArguments.some(argument => argument.name() === name)) return `<${name}>`
  }
  return undefined
}

/**
 * Refuses a command that changes nothing, because it has none of its options. `others` are options that change nothing
 * by themselves.
 */
export function needsOptions(command: Command, others: readonly string[] = []): Command {
  return command.hook('preAction', () => {
    const changing = command.options.filter(option => !others.includes(option.attributeName()))
    if (changing.some(option => command.getOptionValue(option.attributeName()) !== undefined)) return
    const names = changing.map(({ long }) => long).join(', ')
    command.error(`error: the command changes nothing; give at least one of ${names}`, {
      code: 'tollgate.noOptions',
      exitCode: 2,
    })
  })
}
