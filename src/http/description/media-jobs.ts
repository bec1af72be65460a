import type { Content, Operation, Parameter } from './operation.ts'
import {
  about,
  always,
  anything,
  count,
  dateTime,
  object,
  text,
  usd,
  type Members,
  type Schema,
} from './schema.ts'

export const VIDEO = 'vid_01m81jy9wb0002mkb67zqax8qd'
export const unixTime = about('Seconds since 1970.', count)
/** The fields for files. */
export const inputs = (names: readonly string[], what: string): Members =>
  Object.fromEntries(
    names.map(name => [name, about(`${what}: a link, a data URL or base64, or a list of them.`, anything)]),
  )
/** A field with a set of values for each model. */
export const choice = (description: string) => about(description, { type: ['string', 'number', 'null'] })

/** Why a job failed, with the provider's code. */
export const jobError = object({ message: text, type: text, param: always(null) }, { code: text })
const failedCreation = object({ error: jobError, id: text, cost_usd: always('0') })
const unknownSubmit = object({
  error: object({
    message: text,
    type: always('upstream_error'),
    code: always('unknown_submit'),
    param: always(null),
  }),
  id: text,
  status: always('unknown_submit'),
  estimated_cost_usd: usd,
})

const idempotencyKey: Parameter = {
  name: 'idempotency-key',
  in: 'header',
  description: 'A repeat within 24 hours returns the first job, also one that failed.',
  schema: { type: 'string', maxLength: 255 },
}

const failure = (type: string, code?: string) => ({
  error: {
    message: 'The provider refused the job.',
    type,
    ...(code === undefined ? {} : { code }),
    param: null,
  },
  id: VIDEO,
  cost_usd: '0',
})
const content = (schema: Schema, examples: Content['examples']): Content => ({ schema, examples })

/** The parts that every route that creates a job has. */
export const creation = {
  access: 'customer',
  parameters: [idempotencyKey],
  errors: [
    'ambiguous_field',
    'content_policy_violation',
    'insufficient_balance',
    'budget_exceeded',
    'requests_per_minute',
    'concurrent_requests',
    'model_not_found',
    'idempotency_key_reuse',
    'upstream_error',
    'books_inconsistent',
    'upstream_timeout',
  ],
  errorExtensions: {
    insufficient_balance: {
      required_usd: { ...usd, examples: ['0.25'] },
      available_usd: { ...usd, examples: ['0.1'] },
      held_usd: { ...usd, examples: ['0'] },
    },
    budget_exceeded: {
      required_usd: { ...usd, examples: ['6'] },
      remaining_usd: { ...usd, examples: ['0.5'] },
      resets_at: about('Absent for a total budget.', dateTime),
    },
    unavailable: { cost_usd: always('0') },
  },
  otherErrors: {
    400: content(failedCreation, { rejected: failure('invalid_request_error', 'UNSAFE') }),
    429: content(failedCreation, { rate_limited_job: failure('rate_limit_error') }),
    502: content(
      { anyOf: [failedCreation, unknownSubmit] },
      {
        generation_failed: failure('generation_error', 'UNSAFE'),
        unknown_submit: {
          error: {
            message: 'The provider did not confirm the job.',
            type: 'upstream_error',
            code: 'unknown_submit',
            param: null,
          },
          id: VIDEO,
          status: 'unknown_submit',
          estimated_cost_usd: '0.25',
        },
      },
    ),
  },
  style: 'media',
} as const satisfies Partial<Operation>

/** The id of a job in a path. Any text can be asked for. */
export const jobParameter = (schema: Schema, example: string): Parameter => ({
  name: 'id',
  in: 'path',
  description: 'The id of the job.',
  schema: { ...schema, pattern: undefined, type: 'string' },
  example,
})
