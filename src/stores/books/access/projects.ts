import {
  patchProject,
  projectNameDetail,
  type Project,
  type ProjectPatch,
} from '../../../domain/accounts/project.ts'
import { GatewayError } from '../../../domain/errors.ts'
import type { Editor } from '../../../gateway/ports/access/accounts.ts'
import type { Projects, ProjectUsage } from '../../../gateway/ports/access/projects.ts'
import { projectsTable } from '../rows/access-tables.ts'
import { projectFrom, type ProjectRow } from '../rows/account-rows.ts'
import { all, first, insert, run, type StepRunner, type Step } from '../steps.ts'
import { appendAudit } from './audit-log.ts'
import type { ForgetKeys } from './changes.ts'
import { refuseClosed } from './closed-accounts.ts'
import type { ChangeLimits } from './limit-changes.ts'
import { readProjectUsage, type UsageSource } from './project-usage.ts'

type Parts = {
  readonly stepRunner: StepRunner
  readonly forgetKeys: ForgetKeys
  readonly changeLimits: ChangeLimits
  readonly usageSource: UsageSource
}

/** The projects port of one node. */
export class StoredProjects implements Projects {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  create(request: Parameters<Projects['create']>[0]): Promise<Project> {
    return this.#parts.stepRunner.write('access', () => createProject(this.#parts, request))
  }

  find(publicId: string): Promise<Project | undefined> {
    return this.#parts.stepRunner.read(function* () {
      const row = yield* projectRow(publicId)
      return row && projectFrom(row)
    })
  }

  list(accountId: number): Promise<readonly Project[]> {
    return this.#parts.stepRunner.read(function* () {
      const rows = yield* all<ProjectRow>(
        'SELECT * FROM projects WHERE account_id = ? ORDER BY id',
        accountId,
      )
      return rows.map(projectFrom)
    })
  }

  usage(project: Project, of: Parameters<Projects['usage']>[1]): Promise<readonly ProjectUsage[]> {
    return readProjectUsage(this.#parts, project, of)
  }

  update(publicId: string, patch: ProjectPatch, by: Editor): Promise<Project> {
    return this.#parts.stepRunner.write('access', () => updateProject(this.#parts, publicId, patch, by))
  }
}

function* createProject(
  { changeLimits }: Parts,
  { publicId, accountId, name, limits, by }: Parameters<Projects['create']>[0],
): Step<Project> {
  yield* refuseClosed(accountId, 'projects')
  yield* refuseNameInUse(accountId, name)
  const row = { public_id: publicId, account_id: accountId, name, created_at_ms: by.atMs }
  const id = yield* insert(projectsTable, row)
  if (id === null) throw new Error(`The project id ${publicId} is in use.`)
  const created = { action: 'project.create', subject: publicId, detail: projectNameDetail(name) }
  const owner = { accountId, apiKeyId: undefined, projectId: Number(id) }
  const line = { action: 'project.limits', subject: publicId }
  const lines = [created, ...(yield* changeLimits(owner, limits, line, { isNew: true }))]
  for (const change of lines) yield* appendAudit({ ...by, ...change })
  return { id: Number(id), publicId, accountId, name, createdAtMs: by.atMs, closedAtMs: null }
}

function* updateProject(parts: Parts, publicId: string, patch: ProjectPatch, by: Editor): Step<Project> {
  const row = yield* projectRow(publicId)
  if (row === undefined) throw new RangeError(`There is no project ${publicId}.`)
  const project = projectFrom(row)
  const { accountId } = project
  const { name, closedAtMs, actions } = patchProject(project, patch, by.atMs)
  if (name !== project.name) yield* refuseNameInUse(accountId, name)
  const owner = { accountId, apiKeyId: undefined, projectId: project.id }
  const limits = yield* parts.changeLimits(owner, patch.limits, {
    action: 'project.limits',
    subject: publicId,
  })
  const lines = actions.map(action => ({
    action,
    subject: publicId,
    ...(action === 'project.rename' && { detail: projectNameDetail(name) }),
  }))
  for (const line of [...limits, ...lines]) yield* appendAudit({ ...by, ...line })
  if (actions.length === 0) return project
  yield* run('UPDATE projects SET name = ?, closed_at_ms = ? WHERE id = ?', name, closedAtMs, row.id)
  yield* parts.forgetKeys()
  return { ...project, name, closedAtMs }
}

function projectRow(publicId: string): Step<ProjectRow | undefined> {
  return first<ProjectRow>('SELECT * FROM projects WHERE public_id = ?', publicId)
}

function* refuseNameInUse(accountId: number, name: string): Step<void> {
  const known = yield* first('SELECT id FROM projects WHERE account_id = ? AND name = ?', accountId, name)
  if (known === undefined) return
  throw new GatewayError('already_exists', `This account already has a project with the name "${name}".`, {
    param: 'name',
  })
}
