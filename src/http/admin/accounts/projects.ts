import type { Account } from '../../../domain/accounts/account.ts'
import { GatewayError } from '../../../domain/errors.ts'
import type { Project, ProjectPatch } from '../../../domain/accounts/project.ts'
import { instant } from '../../../domain/time.ts'
import { checkedProjectName, createProject } from '../../../gateway/admin/accounts/create-project.ts'
import { termsOf } from '../../account/limits-json.ts'
import type { BufferedReply } from '../../request-context.ts'
import { accountOf } from './accounts.ts'
import { readFields, textField, wrongField, type Fields } from '../body.ts'
import { adminReply, type AdminCall } from '../call.ts'
import type { AccountPorts } from '../ports.ts'
import { absenceOf, found } from '../found.ts'
import { ELSEWHERE, termsField } from './terms.ts'

const NAME = 'the name of the project'
const FIELDS = ['name', 'limits', 'budgets']

/** The projects of an account in the order of their creation, including closed ones. */
export async function listProjects({ params }: AdminCall, ports: AccountPorts): Promise<BufferedReply> {
  const account = await accountOf(params, ports)
  const projects = await ports.projects.list(account.id)
  return adminReply({ data: projects.map(project => projectBody(project, account.publicId)) })
}

/** Creates a project. Throws `already_exists` if the account has one of the name. */
export async function postProject(call: AdminCall, ports: AccountPorts): Promise<BufferedReply> {
  const account = await accountOf(call.params, ports)
  const { name, ...terms } = await readFields(call.request, FIELDS, ELSEWHERE)
  const project = await createProject(
    {
      account,
      name: textField({ name }, 'name', NAME),
      limits: termsField(terms, 'a project'),
      actor: call.actor,
    },
    ports,
  )
  return limitedReply(project, ports)
}

/** A project with its limits. */
export async function getProject({ params }: AdminCall, ports: AccountPorts): Promise<BufferedReply> {
  return limitedReply(await projectOf(params, ports), ports)
}

/** Changes the name or the limits of a project, from the next request on. Repeating it changes nothing. */
export async function patchProject(call: AdminCall, ports: AccountPorts): Promise<BufferedReply> {
  const fields = await readFields(call.request, FIELDS, ELSEWHERE)
  const patch = patchOf(fields)
  return limitedReply(await updated(call, patch, ports), ports)
}

/** Refuses the keys of a project from the next request on. Repeating it changes nothing. */
export async function postProjectClosing(call: AdminCall, ports: AccountPorts): Promise<BufferedReply> {
  return limitedReply(await updated(call, { closed: true }, ports), ports)
}

function patchOf({ name, ...terms }: Fields): ProjectPatch {
  if (name === undefined && Object.keys(terms).length === 0)
    throw wrongField('name', 'is missing; the body changes nothing without "name", "limits" or "budgets"')
  return {
    ...(name === undefined ? {} : { name: checkedProjectName(textField({ name }, 'name', NAME)) }),
    ...(Object.keys(terms).length === 0 ? {} : { limits: termsField(terms, 'a project') }),
  }
}

async function updated(
  { params, actor }: AdminCall,
  patch: ProjectPatch,
  ports: AccountPorts,
): Promise<Project> {
  const { publicId } = await projectOf(params, ports)
  return ports.projects.update(publicId, patch, { actor, atMs: ports.clock.now() })
}

/** A project of an account by its id or its name. Throws `invalid_field`, which suggests similar names. */
export async function projectOfAccount(
  account: Account,
  idOrName: string,
  { projects }: Pick<AccountPorts, 'projects'>,
): Promise<Project> {
  const all = await projects.list(account.id)
  const project =
    all.find(({ publicId }) => publicId === idOrName) ?? all.find(({ name }) => name === idOrName)
  if (project !== undefined) return project
  const names = all.map(({ name }) => name)
  throw new GatewayError('invalid_field', absenceOf('project', idOrName, names), { param: 'project' })
}

/** The project of a path, by its id. Throws `not_found`. */
export async function projectOf(
  params: AdminCall['params'],
  { projects }: Pick<AccountPorts, 'projects'>,
): Promise<Project> {
  const id = params['project'] ?? ''
  return found(await projects.find(id), () => absenceOf('project', id))
}

async function limitedReply(project: Project, ports: AccountPorts): Promise<BufferedReply> {
  const { accountId, id } = project
  const [account, terms] = await Promise.all([
    ports.accounts.findAccountById(accountId),
    termsOf({ accountId, apiKeyId: undefined, projectId: id }, ports.limits),
  ])
  return adminReply({ ...projectBody(project, account?.publicId ?? null), ...terms })
}

function projectBody({ publicId, name, createdAtMs, closedAtMs }: Project, account: string | null): object {
  return {
    id: publicId,
    name,
    account,
    created_at: instant(createdAtMs),
    closed_at: closedAtMs === null ? null : instant(closedAtMs),
  }
}
