import type { Config } from '../config/config.ts'
import { makeFirstLink, type NewLink } from '../gateway/admin/users/links.ts'
import { SignInPace } from '../gateway/admin/users/sign-in-pace.ts'
import type { Clock } from '../gateway/ports/clock.ts'
import type { AdminPorts } from '../http/admin/ports.ts'
import type { ConsolePorts } from '../http/console/api.ts'
import type { Forwarding } from '../http/forwarding.ts'
import { oneTimeCodes } from '../identity/one-time-codes.ts'
import { openPasswords } from '../identity/passwords.ts'

type Addressed = Pick<Config, 'baseUrl' | 'consolePath' | 'host' | 'port'>

/** The address of the console for people. `url` is where the server listens, if it does. */
export function consoleUrl({ baseUrl, consolePath, host, port }: Addressed, url?: string): string {
  const path = consolePath === 'off' ? '' : consolePath
  return `${baseUrl ?? url ?? `http://${host}:${port}`}${path}/`
}

/** The text of a link is after the #, which browsers send to no server: it gets into no log and no referrer. */
export function linkUrlOf(config: Addressed, url?: () => string): (text: string) => string {
  return text => `${consoleUrl(config, url?.())}#link=${text}`
}

/** The parts that only the console has. */
export function openConsole(
  config: Config,
  {
    admin,
    clock,
    forwarding,
  }: { readonly admin: AdminPorts; readonly clock: Clock; readonly forwarding: Forwarding },
): Omit<ConsolePorts, 'admin' | 'bodyMemory'> {
  const { users, userSessions, signInLinks, linkUrl, newId, randomBytes, sha256, mailer } = admin
  return {
    users,
    userSessions,
    signInLinks,
    linkUrl,
    newId,
    randomBytes,
    sha256,
    mailer,
    clock,
    passwords: openPasswords(),
    oneTimeCodes,
    pace: new SignInPace(clock),
    openId: undefined,
    site: { forwarding, baseUrl: config.baseUrl },
  }
}

/**
 * The link for the first owner. Each start of a gateway without users makes one. Undefined if the console is off, if
 * nobody would read it, or if there is a user.
 */
export async function firstLink(
  { consolePath, logLevel }: Config,
  ports: AdminPorts,
): Promise<NewLink | undefined> {
  if (consolePath === 'off' || logLevel === 'silent' || (await ports.users.hasAny())) return undefined
  return makeFirstLink(ports)
}
