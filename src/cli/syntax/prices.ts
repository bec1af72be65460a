import { InvalidArgumentError, type Command } from 'commander'
import { parseUsd } from '../../domain/money.ts'
import {
  assignPriceList,
  listPriceLists,
  removePriceList,
  setPriceList,
  showPriceList,
  type ModelPrice,
  type PriceListChange,
} from '../commands/catalog/prices.ts'
import type { Runner } from '../runner.ts'

const NAME = 'the name of a price list'

/** Adds the commands of price lists. */
export function addPrices(program: Command, runner: Runner): void {
  const prices = program.command('prices').description('Give accounts their own prices, with price lists.')
  prices
    .command('list')
    .description('List all price lists.')
    .action(() => runner.admin(ask => listPriceLists(ask)))
  prices
    .command('show')
    .argument('<name>', NAME)
    .description('Show a price list, and the models whose price differs from the catalog.')
    .action((name: string) => runner.admin(ask => showPriceList(ask, name)))
  prices
    .command('set')
    .argument('<name>', NAME)
    .description('Create a price list, or change the parts of it that the options name.')
    .option('--factor <factor>', 'the factor for all prices, such as 0.8; none removes it', factor)
    .option(
      '--price <model=prices>',
      'the price of one model, as JSON or "free"; none removes it; can be repeated',
      modelPrice,
    )
    .option('--dry-run', 'show which prices would change, and change nothing')
    .addHelpText(
      'after',
      `
  $ tollgate prices set partner --factor 0.8 --dry-run
  $ tollgate prices set partner --price 'gpt-x={"input_per_mtok":"2","output_per_mtok":"8"}'

The changes apply from the next request. "catalog history" lists them, and "catalog rollback" undoes them.`,
    )
    .action((name: string, change: PriceListChange) =>
      runner.admin(ask => setPriceList(ask, { name, ...change })),
    )
  prices
    .command('remove')
    .argument('<name>', NAME)
    .description('Remove a price list that no account has.')
    .action((name: string) => runner.admin(ask => removePriceList(ask, name)))
  prices
    .command('assign')
    .argument('<account>', 'its name or id')
    .argument('<list>', 'the name of a price list; none for the prices of the catalog')
    .description('Give an account a price list, from its next request.')
    .action((account: string, list: string) => runner.admin(ask => assignPriceList(ask, { account, list })))
}

const NONE = 'none'

/** Null removes the factor. The server checks its bounds. */
function factor(text: string): string | null {
  if (text === NONE) return null
  if (parseUsd(text) === undefined)
    throw new InvalidArgumentError('Write a factor such as 0.8 with at most nine decimals, or none.')
  return text
}

/** `gpt-x={"input_per_mtok":"2"}`, `gpt-x=free` or `gpt-x=none`. Collects all that are given. */
function modelPrice(text: string, earlier: readonly ModelPrice[] = []): readonly ModelPrice[] {
  const equals = text.indexOf('=')
  const [model, value] = [text.slice(0, equals), text.slice(equals + 1)]
  if (equals < 1) throw new InvalidArgumentError('Write a model and its prices, such as gpt-x=free.')
  if (value === NONE) return [...earlier, { model, price: null }]
  if (value === 'free') return [...earlier, { model, price: value }]
  try {
    const price: unknown = JSON.parse(value)
    return [...earlier, { model, price }]
  } catch {
    throw new InvalidArgumentError(
      `The prices of ${model} are not JSON. Write them as in the catalog, such as '${model}={"input_per_mtok":"2","output_per_mtok":"8"}'.`,
    )
  }
}
