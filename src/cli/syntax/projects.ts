import { Option, type Command } from 'commander'
import { timeOrDay } from './arguments.ts'
import type { LimitOptions } from '../commands/accounts/limits.ts'
import {
  closeProject,
  createProject,
  listProjects,
  projectUsage,
  renameProject,
  showProject,
  type ProjectUsageOptions,
} from '../commands/accounts/projects.ts'
import { addSet, withLimits } from './limits.ts'
import type { Runner } from '../runner.ts'

const PROJECT = 'its id (proj_…)'

/** Adds the commands of projects. */
export function addProjects(program: Command, runner: Runner): void {
  const projects = program
    .command('projects')
    .description('Create, list, limit, rename and close projects: groups of keys of an account.')
  withLimits(projects.command('create'))
    .argument('<account>', 'its name or id')
    .argument('<name>', 'unique among the projects of the account')
    .description('Create a project. "keys create --project" creates keys in it.')
    .addHelpText(
      'after',
      '\n  $ tollgate projects create ada web --budget month=20\n  $ tollgate keys create ada --project web',
    )
    .action((account: string, name: string, limits: LimitOptions) =>
      runner.admin(ask => createProject(ask, { account, name, limits })),
    )
  projects
    .command('list')
    .argument('<account>', 'its name or id')
    .description('List the projects of an account, including closed ones.')
    .action((account: string) => runner.admin(ask => listProjects(ask, account)))
  projects
    .command('show')
    .argument('<project>', PROJECT)
    .description('Show a project, its limits, and what is left of its budgets.')
    .action((id: string) => runner.admin(ask => showProject(ask, id)))
  addSet(projects, { kind: 'projects', argument: 'project', words: PROJECT }, runner)
  projects
    .command('usage')
    .argument('<project>', PROJECT)
    .description(
      'Add up the charges of the keys of a project. Without --from, those of the current month in UTC.',
    )
    .addOption(
      new Option('--by <what>', 'what the sums are grouped by')
        .choices(['day', 'model', 'key'])
        .default('day'),
    )
    .option('--from <day>', 'the first day, such as 2026-11-01; at most 92 days', timeOrDay)
    .option('--to <day>', 'the day after the last one', timeOrDay)
    .option('--csv', 'print CSV')
    .action((id: string, options: ProjectUsageOptions) =>
      runner.admin(ask => projectUsage(ask, { id, ...options })),
    )
  projects
    .command('rename')
    .argument('<project>', PROJECT)
    .argument('<name>', 'unique among the projects of the account')
    .description('Give a project another name.')
    .action((id: string, name: string) => runner.admin(ask => renameProject(ask, { id, name })))
  projects
    .command('close')
    .argument('<project>', PROJECT)
    .description('Refuse the keys of a project for good. Running requests and jobs are settled.')
    .action((id: string) => runner.admin(ask => closeProject(ask, id)))
}
