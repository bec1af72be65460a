import type { AdminScope } from '../../domain/admin/admin-token.ts'
import type { ErrorCode } from '../../domain/errors.ts'
import type { OperationKind } from '../../domain/ledger/operation.ts'
import type { Method } from '../routes.ts'
import { ref, type Members, type Schema } from './schema.ts'

/** Who may call an operation. */
export type Access = 'customer' | 'admin' | 'metrics' | 'everyone'

/** A body of a request or a reply, by its media type. */
export type Content = {
  readonly schema: Schema
  /** Each must fit the schema. */
  readonly examples: Readonly<Record<string, unknown>>
}
export type Contents = Readonly<Record<string, Content>>

export type Parameter = {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly description: string
  readonly schema: Schema
  readonly example?: unknown
}

export type Reply = {
  readonly description: string
  /** None if the reply has no body. */
  readonly content?: Contents
  /** Its own headers, beside the request id and those of errors. */
  readonly headers?: Readonly<Record<string, { readonly description: string; readonly schema: Schema }>>
}

/** One method of one path. */
export type Operation = {
  /** Unique in the document. Client generators name functions after it. */
  readonly id: string
  readonly summary: string
  readonly description?: string
  readonly tag: string
  readonly access: Access
  /** The scopes of which an admin token needs one. The routes of the admin API have theirs. */
  readonly scopes?: readonly AdminScope[]
  readonly parameters?: readonly Parameter[]
  readonly body?: { readonly content: Contents; readonly isRequired: boolean }
  /** The replies that are not errors, by their statuses. */
  readonly replies: Readonly<Record<string, Reply>>
  /** The codes of its own errors, beside those that its access and its body imply. */
  readonly errors: readonly ErrorCode[]
  /** Members beside `error` in its errors, by their codes. */
  readonly errorExtensions?: Readonly<Partial<Record<ErrorCode, Members>>>
  /** Replies with further errors, such as the failure of a job. They are added to those of the same status. */
  readonly otherErrors?: Readonly<Record<string, Content>>
  /** How errors look; see `reply-style.ts`. On text routes, refusals of a provider have the provider's codes. */
  readonly style?: 'text' | 'messages' | 'media'
}

export type PathDescription = Readonly<Partial<Record<Lowercase<Method>, Operation>>>
/** The operations by their paths, with parameters in braces. */
export type Paths = Readonly<Record<string, PathDescription>>

/** JSON with these examples. */
export function json(schema: Schema, examples: Readonly<Record<string, unknown>>): Contents {
  return { 'application/json': { schema, examples } }
}

/** The reply 200 with one JSON example. */
export function ok(description: string, schema: Schema, example: unknown): Operation['replies'] {
  return { 200: { description, content: json(schema, { example }) } }
}

/** A body of a schema of `components`. */
export function bodyOf(
  schema: string,
  example: object,
  { isRequired = true } = {},
): NonNullable<Operation['body']> {
  return { isRequired, content: json(ref(schema), { example }) }
}

export const pageParameters: readonly Parameter[] = [
  {
    name: 'limit',
    in: 'query',
    description: 'The number of rows of the page.',
    schema: { type: 'integer', minimum: 1, maximum: 500, default: 50 },
  },
  {
    name: 'cursor',
    in: 'query',
    description: 'The `next` of an earlier page. Without it, the first page is returned.',
    schema: { type: 'string', pattern: '^(?:(?:r?|[tn]\\d{1,19}r)\\d{1,19}|g[\\w-]+)$' },
  },
]

export const timeRangeParameters: readonly Parameter[] = (['from', 'to'] as const).map(name => ({
  name,
  in: 'query',
  description:
    name === 'from'
      ? 'Only rows from this time on, in RFC 3339.'
      : 'Only rows before this time. It needs `from`, and is at most 92 days after it. Default: now.',
  schema: { type: 'string', format: 'date-time' },
  example: name === 'from' ? '2026-11-01T00:00:00Z' : '2026-12-01T00:00:00Z',
}))

/** The parameters of a statement whose lines have these kinds. */
export function statementParameters(kinds: readonly OperationKind[]): readonly Parameter[] {
  return [
    ...pageParameters,
    {
      name: 'kind',
      in: 'query',
      description: `Only lines of this kind, or of several with commas between them: ${kinds.join(', ')}.`,
      schema: { type: 'string', pattern: `^(?:${kinds.join('|')})(?:,(?:${kinds.join('|')}))*$` },
      example: 'grant,top_up',
    },
    {
      name: 'from',
      in: 'query',
      description: 'Only lines from this time on, in RFC 3339.',
      schema: { type: 'string', format: 'date-time' },
      example: '2026-11-01T00:00:00Z',
    },
    {
      name: 'to',
      in: 'query',
      description: 'Only lines before this time.',
      schema: { type: 'string', format: 'date-time' },
      example: '2026-12-01T00:00:00Z',
    },
  ]
}

export const usageParameters: readonly Parameter[] = [
  ...pageParameters,
  ...timeRangeParameters,
  {
    name: 'group_by',
    in: 'query',
    description: 'The sums of each value of a tag, or of each user, instead of each charge. It needs `from`.',
    schema: { type: 'string', pattern: '^(?:user|tag:[A-Za-z0-9_.-]{1,32})$' },
    example: 'tag:team',
  },
  {
    name: 'tag',
    in: 'query',
    description: 'Only requests with this tag. Several must all be there. It needs `from`.',
    schema: { type: 'string', pattern: '=' },
    example: 'team=red',
  },
  {
    name: 'user',
    in: 'query',
    description: 'Only requests of this end user. It needs `from`.',
    schema: { type: 'string', minLength: 1 },
    example: 'user-17',
  },
  {
    name: 'project',
    in: 'query',
    description: 'Only requests with the keys of this project, by its id. It needs `from`.',
    schema: { type: 'string', pattern: '^proj_' },
    example: 'proj_01m7yafb7z000c1awn4tmfekz0',
  },
]
