import type { Role } from '../../src/domain/admin/user.ts'
import type { TestGateway } from './gateway.ts'

export const PASSWORD = 'correct horse battery'

/** A browser of the console, as far as the server can tell. */
export type Visitor = {
  readonly cookie: string
  readonly csrfToken: string
  /** Sends a request to the console's API, with the cookie, the token and the origin that a browser would send. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>
}

/** Sends a request to the console's API without a session. */
export function callConsole(
  { url }: Pick<TestGateway, 'url'>,
  method: string,
  path: string,
  { body, headers = {} }: { readonly body?: unknown; readonly headers?: Record<string, string> } = {},
): Promise<Response> {
  return fetch(`${url}/console/api/${path}`, {
    method,
    redirect: 'manual',
    headers: { origin: url, 'sec-fetch-site': 'same-origin', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
}

/** A new user of a role, invited by the admin key, who has set `PASSWORD` with the link and is signed in. */
export async function aVisitor(
  gateway: TestGateway,
  user: { readonly role: Role; readonly email?: string; readonly grants_per_day_usd?: string },
): Promise<Visitor> {
  const { email = `${user.role}@example.com` } = user
  const { link } = await gateway.admin<{ link: string }>('POST', 'users', { ...user, email })
  const body = { token: tokenIn(link), password: PASSWORD }
  return visitorOf(gateway, await callConsole(gateway, 'PUT', 'link', { body }))
}

/** Signs in with a password. Throws if that is refused. */
export async function signIn(gateway: TestGateway, email: string, password = PASSWORD): Promise<Visitor> {
  return visitorOf(gateway, await callConsole(gateway, 'POST', 'session', { body: { email, password } }))
}

/** The browser that got this reply. */
export async function visitorOf(gateway: Pick<TestGateway, 'url'>, reply: Response): Promise<Visitor> {
  if (!reply.ok) throw new Error(`${reply.status} ${await reply.text()}`)
  const { csrf_token: csrfToken } = (await reply.json()) as { csrf_token: string }
  const cookie = cookieIn(reply)
  return {
    cookie,
    csrfToken,
    call: (method, path, body, headers = {}) =>
      callConsole(gateway, method, path, {
        body,
        headers: { cookie, 'x-csrf-token': csrfToken, ...headers },
      }),
  }
}

/** The name and the value of the cookie that a reply sets. */
export function cookieIn(reply: Response): string {
  return reply.headers.get('set-cookie')?.split(';')[0] ?? ''
}

export function tokenIn(link: string): string {
  return new URL(link).hash.replace('#link=', '')
}

/** The status of a reply, with the code of an error. */
export async function outcomeOf(reply: Response): Promise<string> {
  const text = await reply.text()
  if (reply.ok) return String(reply.status)
  return `${reply.status} ${(JSON.parse(text) as { error: { code: string } }).error.code}`
}
