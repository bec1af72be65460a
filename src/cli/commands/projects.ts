import { adminPath, type Ask } from '../ask.ts'
import { table, type Outcome } from '../outcome.ts'
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

function stateOf({ closed_at: closedAt }: ProjectReply): string {
  return closedAt === null ? 'open' : `closed ${closedAt}`
}
