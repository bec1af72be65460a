import type { Config } from '../../config/config.ts'
import { makeFirstLink, type NewLink } from '../../gateway/admin/users/links.ts'
import { SignInPace } from '../../gateway/admin/users/sign-in-pace.ts'
import type { Clock } from '../../gateway/ports/clock.ts'
import type { AdminPorts } from '../../http/admin/ports.ts'
import type { ConsolePorts } from '../../http/console/calls.ts'
import type { Forwarding } from '../../http/forwarding.ts'
import { errorFields, type Log } from '../../telemetry/log.ts'
import { oneTimeCodes } from '../../identity/one-time-codes.ts'
import { openIdProvider } from '../../identity/open-id.ts'
import { openPasswords } from '../../identity/passwords.ts'

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
    log,
  }: {
    readonly admin: AdminPorts
    readonly clock: Clock
    readonly forwarding: Forwarding
    readonly log: Log
  },
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
    openId: openIdOf(config),
    product: 'Tollgate',
    onFailed: error => log.warn('a sign-in failed', failureFields(error)),
    site: { forwarding, baseUrl: config.baseUrl },
  }
}

/** The settings are complete, or the gateway does not start. */
function openIdOf(config: Config): ConsolePorts['openId'] {
  const {
    oidcIssuer: issuer,
    oidcClientId: clientId,
    oidcClientSecret: clientSecret,
    oidcName: name,
  } = config
  if (issuer === undefined || clientId === undefined || clientSecret === undefined) return undefined
  return {
    provider: openIdProvider({ issuer, clientId, clientSecret, name: name ?? new URL(issuer).hostname }),
    redirectUri: `${consoleUrl(config)}api/oidc-callback`,
  }
}

/** The cause of a refusal by a provider, which the person is not told. */
function failureFields(error: unknown): ReturnType<typeof errorFields> {
  return errorFields(error instanceof Error && error.cause !== undefined ? error.cause : error)
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
