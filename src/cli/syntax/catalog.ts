import type { Command } from 'commander'
import { revisionNumber, withPages } from './arguments.ts'
import {
  catalogHistory,
  exportCatalog,
  importCatalog,
  listModels,
  listProviders,
  rollBackCatalog,
  switchModel,
  type CatalogChange,
} from '../commands/catalog.ts'
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
    .description('List the revisions of the catalog, newest first.')
    .action((options: { limit: string; cursor?: string }) =>
      runner.admin(ask => catalogHistory(ask, options)),
    )
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

  program
    .command('providers')
    .description('List providers.')
    .command('list')
    .description('List all providers of the catalog, without their keys.')
    .action(() => runner.admin(ask => listProviders(ask)))

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

function withChangeOptions(command: Command): Command {
  return command
    .option('--dry-run', 'show what would change, and change nothing')
    .option('--yes', 'also remove rows and stored keys')
}
