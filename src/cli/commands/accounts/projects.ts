import { adminPath, withQuery, type Ask } from '../../ask.ts'
import { table, type Outcome } from '../../outcome.ts'
import { csvLine, operatorText, type OperatorSums } from '../reports/usage.ts'
import { bodyOf, limitLines, type LimitedReply, type LimitOptions } from './limits.ts'

type ProjectReply = {
  readonly id: string
  readonly name: string
  readonly account: string | null
  readonly created_at: string
  readonly closed_at: string | null
}
type LimitedProject = ProjectReply & LimitedReply

/** Creates a project of an account, with limits or without. */
export async function createProject(
  ask: Ask,
  {
    account,
    name,
    limits,
  }: { readonly account: string; readonly name: string; readonly limits: LimitOptions },
): Promise<Outcome> {
  const project = await ask<LimitedProject>({
    method: 'POST',
    path: adminPath('accounts', account, 'projects'),
    json: { name, ...bodyOf(limits) },
  })
  return { value: project, text: `Created project ${project.name} (${project.id}).` }
}

/** Lists the projects of an account, including closed ones. */
export async function listProjects(ask: Ask, account: string): Promise<Outcome> {
  const { data } = await ask<{ readonly data: readonly ProjectReply[] }>({
    method: 'GET',
    path: adminPath('accounts', account, 'projects'),
  })
  const rows = data.map(project => [project.name, project.id, project.created_at, stateOf(project)])
  return {
    value: { data },
    text: data.length === 0 ? 'No projects.' : table(['NAME', 'ID', 'CREATED', 'STATE'], rows),
  }
}

/** Shows a project with its limits. */
export async function showProject(ask: Ask, id: string): Promise<Outcome> {
  const project = await ask<LimitedProject>({ method: 'GET', path: adminPath('projects', id) })
  const limits = limitLines(project)
  const lines = [
    ['name', project.name],
    ['id', project.id],
    ['account', project.account ?? '–'],
    ['created', project.created_at],
    ['state', stateOf(project)],
    ['limits', limits.length === 0 ? 'none' : limits.join('; ')],
  ]
  return { value: project, text: lines.map(([word = '', value]) => `${word.padEnd(7)}  ${value}`).join('\n') }
}

export async function renameProject(
  ask: Ask,
  { id, name }: { readonly id: string; readonly name: string },
): Promise<Outcome> {
  const project = await ask<LimitedProject>({
    method: 'PATCH',
    path: adminPath('projects', id),
    json: { name },
  })
  return { value: project, text: `The name of ${project.id} is ${project.name}.` }
}

/** Closes a project for good. Repeating it changes nothing. */
export async function closeProject(ask: Ask, id: string): Promise<Outcome> {
  const project = await ask<LimitedProject>({ method: 'POST', path: adminPath('projects', id, 'close') })
  return {
    value: project,
    text: `Closed ${project.name} (${project.id}). Requests with its keys are now refused.`,
  }
}

/** What the sums of a report are grouped by. */
type UsageGrain = 'day' | 'model' | 'key'

type Sums = OperatorSums & {
  readonly charges: number
  readonly input_tokens: number
  readonly output_tokens: number
  readonly images: number
  readonly seconds: number
  readonly cost_usd: string
}
type UsageReply = {
  readonly data: readonly (Sums & Readonly<Partial<Record<UsageGrain, string>>>)[]
  readonly totals: Sums
}

const sums = [
  'charges',
  'input_tokens',
  'output_tokens',
  'images',
  'seconds',
  'cost_usd',
  'compensated_usd',
  'provider_cost_usd',
  'margin_usd',
  'charges_without_cost',
] as const satisfies readonly (keyof Sums)[]

export type ProjectUsageOptions = {
  readonly by: UsageGrain
  readonly from?: string
  readonly to?: string
  readonly csv?: true
}

/** Shows the charges of the keys of a project, added up by day, model or key, as a table or as CSV. */
export async function projectUsage(
  ask: Ask,
  { id, csv, ...query }: ProjectUsageOptions & { readonly id: string },
): Promise<Outcome> {
  const path = adminPath('projects', id, 'usage')
  const report = await ask<UsageReply>({ method: 'GET', path: withQuery(path, query) })
  const rows = report.data.map(row => [row[query.by] ?? '', ...sums.map(name => String(row[name]))])
  const head = [query.by, ...sums]
  if (csv === true) return { value: report, text: [head, ...rows].map(csvLine).join('').trimEnd() }
  const { charges, cost_usd: cost } = report.totals
  const total = `Charges: ${charges}. Cost: ${cost} USD.\n${operatorText(report.totals)}`
  const titles = head.map(titleOf)
  return { value: report, text: rows.length === 0 ? 'No usage.' : `${table(titles, rows)}\n\n${total}` }
}

/** The title of a column, in the words of the other reports. */
function titleOf(name: string): string {
  if (name === 'charges_without_cost') return 'NO COST'
  return name.replace('provider_cost', 'provider').replace('_usd', ' USD').replace('_', ' ').toUpperCase()
}

function stateOf({ closed_at: closedAt }: ProjectReply): string {
  return closedAt === null ? 'open' : `closed ${closedAt}`
}
