import type { Database, Statement } from 'bun:sqlite'
import {
  patchProject,
  projectNameDetail,
  type Project,
  type ProjectPatch,
} from '../../domain/accounts/project.ts'
import { GatewayError } from '../../domain/errors.ts'
import type { Editor } from '../../gateway/ports/accounts.ts'
import type { Projects, ProjectUsage } from '../../gateway/ports/projects.ts'
import { projectFrom, type ProjectRow } from '../books/account-rows.ts'
import type { ApiKeyCache } from './api-key-cache.ts'
import type { SqliteAuditLog } from './audit-log.ts'
import { ClosedAccounts } from './closed-accounts.ts'
import type { GroupCommit } from './group-commit.ts'
import type { Tables } from './hashed-table.ts'
import type { ChangeLimits } from './limits/limits.ts'
import { ProjectUsageReader } from './project-usage.ts'

/** The projects of one node. */
export class SqliteProjects implements Projects {
  readonly #groupCommit: GroupCommit
  readonly #auditLog: SqliteAuditLog
  readonly #tables: Tables
  readonly #sql: ReturnType<typeof statements>
  readonly #closedAccounts: ClosedAccounts
  readonly #keptKeys: ApiKeyCache
  readonly #changeLimits: ChangeLimits
  readonly #usage: ProjectUsageReader

  constructor(parts: {
    readonly database: Database
    readonly groupCommit: GroupCommit
    readonly auditLog: SqliteAuditLog
    readonly tables: Tables
    readonly keptKeys: ApiKeyCache
    readonly changeLimits: ChangeLimits
  }) {
    this.#groupCommit = parts.groupCommit
    this.#auditLog = parts.auditLog
    this.#tables = parts.tables
    this.#sql = statements(parts.database)
    this.#closedAccounts = new ClosedAccounts(parts.database)
    this.#keptKeys = parts.keptKeys
    this.#changeLimits = parts.changeLimits
    this.#usage = new ProjectUsageReader(parts.database)
  }

  create({ publicId, accountId, name, limits, by }: Parameters<Projects['create']>[0]): Promise<Project> {
    return this.#groupCommit.run(() => {
      this.#closedAccounts.refuse(accountId, 'projects')
      this.#refuseNameInUse(accountId, name)
      const row = { public_id: publicId, account_id: accountId, name, created_at_ms: by.atMs }
      const id = this.#tables.projects.insert(row)
      if (id === null) throw new Error(`The project id ${publicId} is in use.`)
      const created = { action: 'project.create', subject: publicId, detail: projectNameDetail(name) }
      const owner = { accountId, apiKeyId: undefined, projectId: Number(id) }
      const line = { action: 'project.limits', subject: publicId }
      const lines = [created, ...this.#changeLimits(owner, limits, line, { isNew: true })]
      for (const change of lines) this.#auditLog.append({ ...change, ...by })
      return { id: Number(id), publicId, accountId, name, createdAtMs: by.atMs, closedAtMs: null }
    })
  }

  async find(publicId: string): Promise<Project | undefined> {
    const row = this.#sql.byPublicId.get(publicId)
    return row === null ? undefined : projectFrom(row)
  }

  async list(accountId: number): Promise<readonly Project[]> {
    return this.#sql.ofAccount.all(accountId).map(projectFrom)
  }

  usage(project: Project, of: Parameters<Projects['usage']>[1]): Promise<readonly ProjectUsage[]> {
    return this.#usage.read(project, of)
  }

  update(publicId: string, patch: ProjectPatch, by: Editor): Promise<Project> {
    return this.#groupCommit.run(() => {
      const row = this.#sql.byPublicId.get(publicId)
      if (row === null) throw new RangeError(`There is no project ${publicId}.`)
      const project = projectFrom(row)
      const { accountId } = project
      const { name, closedAtMs, actions } = patchProject(project, patch, by.atMs)
      if (name !== project.name) this.#refuseNameInUse(accountId, name)
      const owner = { accountId, apiKeyId: undefined, projectId: project.id }
      const limits = this.#changeLimits(owner, patch.limits, { action: 'project.limits', subject: publicId })
      const lines = actions.map(action => ({
        action,
        subject: publicId,
        ...(action === 'project.rename' && { detail: projectNameDetail(name) }),
      }))
      for (const line of [...limits, ...lines]) this.#auditLog.append({ ...line, ...by })
      if (actions.length === 0) return project
      this.#sql.change.run(name, closedAtMs, row.id)
      // No other code runs before the commit, so no key can be read and kept in between.
      this.#keptKeys.clear()
      return { ...project, name, closedAtMs }
    })
  }

  #refuseNameInUse(accountId: number, name: string): void {
    if (this.#sql.byName.get(accountId, name) === null) return
    throw new GatewayError('already_exists', `This account already has a project with the name "${name}".`, {
      param: 'name',
    })
  }
}

function statements(database: Database) {
  const projects = 'SELECT * FROM projects WHERE'
  return {
    byPublicId: database.prepare<ProjectRow, [string]>(`${projects} public_id = ?`),
    byName: database.prepare<ProjectRow, [number, string]>(`${projects} account_id = ? AND name = ?`),
    ofAccount: database.prepare<ProjectRow, [number]>(`${projects} account_id = ? ORDER BY id`),
    change: database.prepare('UPDATE projects SET name = ?, closed_at_ms = ? WHERE id = ?'),
  } satisfies Record<string, Statement>
}
