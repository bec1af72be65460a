import { Option, type Command } from 'commander'
import { rowKinds, type RowKind } from '../../domain/catalog/catalog-changes.ts'
import { revisionNumber, withPages } from './arguments.ts'
import { catalogChanges, catalogHistory, rowHistory } from '../commands/catalog/catalog-history.ts'
import {
  exportCatalog,
  importCatalog,
  listModels,
  rollBackCatalog,
  switchModel,
  type CatalogChange,
} from '../commands/catalog/catalog.ts'
import { listProviders, listProviderStates, testProvider } from '../commands/catalog/providers.ts'
import type { Runner } from '../runner.ts'

/** Adds the commands `catalog`, `providers` and `models`. */
export function addCatalog(program: Command, runner: Runner): void {
  const catalog = program
    .command('catalog')
    .description('Import or export the catalog as a YAML file, or go back to an earlier revision.')
  withChangeOptions(catalog.command('import <file>'))
    .description('Replace the catalog with a file ("-" is standard input). Repeating it changes nothing.')
    .addHelpText(
      'after',
      '\nA file with a mistake changes nothing. Each mistake is reported with its line and field.',
    )
    .action((file: string, change: CatalogChange) =>
      runner.admin((ask, { url }) => importCatalog(ask, { file, url, ...change }), {
        mayCreate: change.dryRun !== true,
        longWork: 'Importing the catalog',
      }),
    )
  withPages(catalog.command('history'))
    .description('List the revisions of the catalog, or the edits of one row, newest first.')
    .addOption(new Option('--model <id>', 'the edits of this model').conflicts(['provider', 'priceList']))
    .addOption(new Option('--provider <id>', 'the edits of this provider').conflicts('priceList'))
    .option('--price-list <id>', 'the edits of this price list')
    .action(({ model, provider, priceList, ...page }: HistoryOptions) => {
      const row = rowAsked({ model, provider, price_list: priceList })
      return runner.admin(ask =>
        row === undefined ? catalogHistory(ask, page) : rowHistory(ask, { ...row, ...page }),
      )
    })
  catalog
    .command('changes')
    .argument('<from>', 'a number of "tollgate catalog history"', revisionNumber)
    .argument('[to]', 'a later or earlier one; by default, the current one', revisionNumber)
    .description('List the rows that differ between two revisions, with their fields before and after.')
    .action((from: string, to: string | undefined) => runner.admin(ask => catalogChanges(ask, { from, to })))
  withChangeOptions(catalog.command('rollback'))
    .argument('<revision>', 'a number of "tollgate catalog history"', revisionNumber)
    .description('Make the catalog of an earlier revision the current one, as a new revision.')
    .addHelpText('after', '\nThe stored keys of that revision come back too.')
    .action((revision: string, change: CatalogChange) =>
      runner.admin((ask, { url }) => rollBackCatalog(ask, { revision, url, ...change })),
    )
  catalog
    .command('export [file]')
    .description('Write the catalog to a file or to standard output, without secrets.')
    .action((file = '-') => runner.admin((_, admin, isJson) => exportCatalog(admin, { file, isJson })))

  const providers = program.command('providers').description('List providers, and test one.')
  providers
    .command('list')
    .description('List all providers of the catalog, without their keys.')
    .action(() => runner.admin(ask => listProviders(ask)))
  providers
    .command('states')
    .description('List the circuit breakers and the last failure of each provider, as the server saw them.')
    .action(() => runner.admin(ask => listProviderStates(ask)))
  providers
    .command('test <provider>')
    .description('Ask a provider whether it responds and accepts its key. It costs nothing.')
    .addHelpText('after', '\nExits with 1 if the provider does not respond or refuses the key.')
    .action((id: string) => runner.admin(ask => testProvider(ask, id)))

  const models = program.command('models').description('List models, and switch them on or off.')
  models
    .command('list')
    .description('List all models of the catalog with their prices, and say which cannot be called.')
    .action(() => runner.admin(ask => listModels(ask)))
  for (const word of ['on', 'off'] as const) {
    const effect =
      word === 'on'
        ? 'Switch a model on, from the next request.'
        : 'Switch a model off, from the next request.'
    models
      .command(`${word} <id>`)
      .description(effect)
      .action((id: string) => runner.admin(ask => switchModel(ask, { id, enabled: word === 'on' })))
  }
}

type HistoryOptions = {
  readonly limit: string
  readonly cursor?: string
  readonly model?: string
  readonly provider?: string
  readonly priceList?: string
}

/** The row that an option names. Undefined without one. */
function rowAsked(
  asked: Readonly<Record<RowKind, string | undefined>>,
): { readonly kind: RowKind; readonly id: string } | undefined {
  for (const kind of rowKinds) {
    const id = asked[kind]
    if (id !== undefined) return { kind, id }
  }
  return undefined
}

function withChangeOptions(command: Command): Command {
  return command
    .option('--dry-run', 'show what would change, and change nothing')
    .option('--yes', 'also remove rows and stored keys')
}
