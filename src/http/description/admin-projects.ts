import { bodyOf, nameWithout } from './admin-accounts.ts'
import { termChanges, termMembers, termsExample } from './limits.ts'
import { ok, type Parameter, type Paths } from './operation.ts'
import { about, closed, dateTime, idOf, listOf, nullable, object, ref, text, type Members } from './schema.ts'

const projectMembers: Members = {
  id: idOf('proj'),
  name: text,
  account: nullable(idOf('acct')),
  created_at: dateTime,
  closed_at: about('Null while it is open.', nullable(dateTime)),
}
const name = nameWithout('acct_', 'proj_')

export const adminProjectSchemas: Members = {
  Project: object(projectMembers),
  LimitedProject: object({ ...projectMembers, ...termMembers }),
  NewProject: closed({ name }, termChanges),
  ProjectChange: closed({}, { name, ...termChanges }),
}

const PROJECT = 'proj_01m7yafb7z000c1awn4tmfekz0'
const project = {
  id: PROJECT,
  name: 'web',
  account: 'acct_01m7yafb7z000c1awn4tmfekz0',
  created_at: '2026-11-21T05:50:09.183Z',
  closed_at: null,
}
const limited = { ...project, ...termsExample }
const common = { tag: 'Admin: projects', access: 'admin' } as const
const accountParameter: Parameter = {
  name: 'account',
  in: 'path',
  description: 'The id or the name of an account.',
  schema: text,
  example: 'ada',
}
const projectParameter: Parameter = {
  name: 'project',
  in: 'path',
  description: 'The id of the project.',
  schema: text,
  example: PROJECT,
}

/** Groups of keys of an account, with limits and budgets of their own. */
export const adminProjectPaths: Paths = {
  'accounts/{account}/projects': {
    get: {
      ...common,
      id: 'listProjects',
      summary: 'The projects of an account, oldest first, including closed ones',
      parameters: [accountParameter],
      replies: ok('The projects.', object({ data: listOf(ref('Project')) }), { data: [project] }),
      errors: ['not_found'],
    },
    post: {
      ...common,
      id: 'createProject',
      summary: 'Create a project',
      description:
        'Its name is unique in the account. Keys are created in it by `POST accounts/{account}/keys`.',
      parameters: [accountParameter],
      body: bodyOf('NewProject', { name: 'web', budgets: { month: '20' } }),
      replies: ok('The project.', ref('LimitedProject'), limited),
      errors: ['not_found', 'already_exists'],
    },
  },
  'projects/{project}': {
    get: {
      ...common,
      id: 'readProject',
      summary: 'A project with its limits',
      parameters: [projectParameter],
      replies: ok('The project.', ref('LimitedProject'), limited),
      errors: ['not_found'],
    },
    patch: {
      ...common,
      id: 'changeProject',
      summary: 'Change the name or the limits of a project',
      description:
        'What its keys spent before a budget was set counts. A project has no limits for single models.',
      parameters: [projectParameter],
      body: bodyOf('ProjectChange', { limits: { requests_per_minute: 60 }, budgets: { month: '20' } }),
      replies: ok('The project.', ref('LimitedProject'), limited),
      errors: ['not_found', 'already_exists'],
    },
  },
  'projects/{project}/close': {
    post: {
      ...common,
      id: 'closeProject',
      summary: 'Refuse the keys of a project for good',
      description: 'Running requests and jobs are settled. Repeating it changes nothing.',
      parameters: [projectParameter],
      replies: ok('The project.', ref('LimitedProject'), {
        ...limited,
        closed_at: '2026-11-22T05:50:09.183Z',
      }),
      errors: ['not_found'],
    },
  },
}
