import { bodyOf, ok, timeRangeParameters, type Parameter, type Paths } from '../operation.ts'
import { nameWithout } from './accounts.ts'
import { operatorSums, operatorSumsExample } from './margins.ts'
import { termChanges, termMembers, termsExample } from '../limits.ts'
import { usageGrains } from '../../../gateway/ports/access/projects.ts'
import {
  about,
  closed,
  count,
  dateTime,
  idOf,
  listOf,
  nullable,
  object,
  ref,
  text,
  usd,
  words,
  type Members,
} from '../schema.ts'

const projectMembers: Members = {
  id: idOf('proj'),
  name: text,
  account: nullable(idOf('acct')),
  created_at: dateTime,
  closed_at: about('Null while it is open.', nullable(dateTime)),
}
const sums: Members = {
  charges: count,
  input_tokens: count,
  output_tokens: count,
  images: count,
  seconds: { type: 'number', minimum: 0 },
  cost_usd: usd,
  ...operatorSums,
}
const name = nameWithout('acct_', 'proj_')

export const adminProjectSchemas: Members = {
  Project: object(projectMembers),
  LimitedProject: object({ ...projectMembers, ...termMembers }),
  NewProject: closed({ name }, termChanges),
  ProjectUsage: object(sums, {
    day: { type: 'string', format: 'date' },
    model: text,
    key: idOf('key'),
  }),
  ProjectChange: closed({}, { name, ...termChanges }),
}

const usageExample = {
  charges: 2,
  input_tokens: 12,
  output_tokens: 20,
  images: 0,
  seconds: 0,
  cost_usd: '0.00023',
  ...operatorSumsExample,
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
      errors: ['not_found', 'already_exists', 'already_closed'],
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
      errors: ['not_found', 'already_exists', 'already_closed'],
    },
  },
  'projects/{project}/usage': {
    get: {
      ...common,
      id: 'readProjectUsage',
      summary: 'The charges of the keys of a project, added up by day, model or key',
      description:
        'The times are starts of days in UTC. Without them, the report has the current month. Refunds are not in it.',
      parameters: [
        projectParameter,
        {
          name: 'by',
          in: 'query',
          description: 'What the sums are grouped by; `day` by default.',
          schema: words(usageGrains),
        },
        ...timeRangeParameters,
      ],
      replies: ok(
        'The report. Each sum has its day, model or key.',
        object({
          project: idOf('proj'),
          from: dateTime,
          to: dateTime,
          data: listOf(ref('ProjectUsage')),
          totals: object(sums),
        }),
        {
          project: PROJECT,
          from: '2026-11-01T00:00:00.000Z',
          to: '2026-11-24T00:00:00.000Z',
          data: [{ day: '2026-11-23', ...usageExample }],
          totals: usageExample,
        },
      ),
      errors: ['not_found', 'invalid_field'],
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
