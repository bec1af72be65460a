import type { Admin } from './connect.ts'
import { CliError } from './outcome.ts'

/** One request to the admin API. */
export type AdminRequest = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** The path below `/admin/api/`; see `adminPath`. */
  readonly path: string
  readonly json?: unknown
  readonly yaml?: string
  readonly headers?: Readonly<Record<string, string>>
  /** How long a running server may take. The default is a minute. */
  readonly timeoutMs?: number
}

/** A day, for work that reads or writes the whole database. */
export const LONG_TIMEOUT_MS = 86_400_000

/** Sends a request and returns the JSON of the response. Throws a `CliError` with the API's message on an error. */
export type Ask = <Reply>(request: AdminRequest) => Promise<Reply>

/** Joins escaped path segments. Names and model ids may contain slashes. */
export function adminPath(...parts: readonly string[]): string {
  return parts.map(encodeURIComponent).join('/')
}

/** Adds those of these parameters that are given to a path. */
export function withQuery(path: string, query: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return `${path}?${new URLSearchParams(given)}`
}

export function askOf(admin: Admin): Ask {
  return async request => (await sent(admin, request)).json() as never
}

/** Like `Ask`, but returns the response as text. */
export async function askText(admin: Admin, request: AdminRequest): Promise<string> {
  return (await sent(admin, request)).text()
}

async function sent(
  admin: Admin,
  { method, path, json, yaml, headers = {}, timeoutMs }: AdminRequest,
): Promise<Response> {
  const body = json === undefined ? yaml : JSON.stringify(json)
  const type = json === undefined ? 'application/yaml' : 'application/json'
  const response = await admin.send(`/admin/api/${path}`, {
    method,
    headers: body === undefined ? headers : { ...headers, 'content-type': type },
    ...(body === undefined ? {} : { body }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  })
  if (!response.ok) throw await cliErrorOf(response, path)
  return response
}

/** A field that the API refuses came from the arguments, except in a catalog, which came from a file. */
async function cliErrorOf(response: Response, path: string): Promise<CliError> {
  const body = (await response.json().catch(() => ({}))) as {
    readonly error?: { readonly message?: string; readonly code?: string }
  }
  const { message = `The server answered with status ${response.status}.`, code = 'server_error' } =
    body.error ?? {}
  return new CliError(message + hintFor(response.status, code), {
    exitCode: code === 'invalid_field' && !path.startsWith('catalog') ? 2 : 1,
    code,
    ...(body.error === undefined ? {} : { body }),
  })
}

function hintFor(status: number, code: string): string {
  if (code === 'removals_not_allowed')
    return ' Repeat the command with --dry-run to see all changes, or with --yes to make them.'
  if (code.startsWith('admin_token_') || code === 'missing_scope')
    return ' Set TOLLGATE_ADMIN_KEY to the admin key, or to a token that may do this.'
  if (status === 401)
    return ' Set TOLLGATE_ADMIN_KEY to the admin key that the running server was started with.'
  return status === 500 ? ' The log of the server has the reason.' : ''
}
