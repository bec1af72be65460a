import type { DatabaseServer } from '../../gateway/ports/nodes/database-server.ts'
import type { SmtpServer } from '../../gateway/ports/events/mail.ts'
import type { CacheServer } from '../../gateway/ports/requests/shared-cache.ts'
import type { Form } from './form.ts'
import { hostName } from './web.ts'

const STARTTLS_PORT = 587
const IMPLICIT_TLS_PORT = 465
const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|::1)$/

/**
 * A login is only sent over TLS: a server without STARTTLS is refused, except on this machine, or with `?tls=off` for a
 * server in the operator's own network.
 */
export const smtpAddress: Form<SmtpServer> = {
  expected:
    'smtp://USER:PASSWORD@HOST:PORT or smtps://USER:PASSWORD@HOST:PORT, with % codes for special characters of the ' +
    'password. USER:PASSWORD@ and :PORT can be left out, and ?tls=off allows smtp:// without TLS',
  parse: text => {
    const url = URL.parse(text.trim())
    const isImplicit = url?.protocol === 'smtps:'
    if (url === null || !(isImplicit || url.protocol === 'smtp:')) return undefined
    const host = url.hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase()
    const [user, password] = [decoded(url.username), decoded(url.password)]
    const isOff = url.search === '?tls=off' && !isImplicit
    if (hostName.parse(host) === undefined || user === undefined || password === undefined) return undefined
    if ((user === '' && password !== '') || !['', '/'].includes(url.pathname) || url.hash !== '')
      return undefined
    if (!isOff && url.search !== '') return undefined
    const plain = isOff || LOOPBACK.test(host)
    return {
      host,
      port: url.port === '' ? (isImplicit ? IMPLICIT_TLS_PORT : STARTTLS_PORT) : Number(url.port),
      tls: isImplicit ? 'implicit' : plain ? 'off' : 'starttls',
      login: user === '' ? undefined : { user, password },
    }
  },
}

const REDIS_PORT = 6379

/** Valkey's names for the same protocol. */
const REDIS_SCHEMES: ReadonlyMap<string, { readonly isTls: boolean }> = new Map([
  ['redis:', { isTls: false }],
  ['rediss:', { isTls: true }],
  ['valkey:', { isTls: false }],
  ['valkeys:', { isTls: true }],
])

export const redisAddress: Form<CacheServer> = {
  expected:
    'redis://USER:PASSWORD@HOST:PORT/NUMBER, or rediss:// with TLS, with % codes for special characters of the ' +
    'password. USER:PASSWORD@, USER, :PORT and /NUMBER can be left out',
  parse: text => {
    const url = URL.parse(text.trim())
    const scheme = REDIS_SCHEMES.get(url?.protocol ?? '')
    if (url === null || scheme === undefined || url.search !== '' || url.hash !== '') return undefined
    const host = url.hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase()
    const [user, password] = [decoded(url.username), decoded(url.password)]
    const database = /^\/?(\d{0,4})$/.exec(url.pathname)?.[1]
    if (
      hostName.parse(host) === undefined ||
      user === undefined ||
      password === undefined ||
      database === undefined
    )
      return undefined
    if (user !== '' && password === '') return undefined
    return {
      host,
      port: url.port === '' ? REDIS_PORT : Number(url.port),
      ...scheme,
      user: user === '' ? undefined : user,
      password: password === '' ? undefined : password,
      database: Number(database),
    }
  },
}

const POSTGRES_PORT = 5432
const DATABASE_PARAMETERS: ReadonlySet<string> = new Set(['sslmode', 'sslrootcert', 'pgbouncer'])
const TLS_MODES = ['disable', 'require', 'verify-full'] as const

/** Other parameters are refused, because a client that ignores one could connect in a weaker way than asked. */
export const databaseAddress: Form<DatabaseServer> = {
  expected:
    'postgres://USER:PASSWORD@HOST:PORT/DATABASE, with % codes for special characters of the password. :PASSWORD and ' +
    ':PORT can be left out. It can end with the parameters sslmode=disable, require or verify-full, ' +
    'sslrootcert=FILE (with verify-full) and pgbouncer=true, as in ?sslmode=require&pgbouncer=true',
  parse: text => {
    const url = URL.parse(text.trim())
    if (url === null || !['postgres:', 'postgresql:'].includes(url.protocol) || url.hash !== '')
      return undefined
    const host = url.hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase()
    const [user, password] = [decoded(url.username), decoded(url.password)]
    const database = decoded(url.pathname.replace(/^\//, ''))
    const more = databaseParameters(url.searchParams)
    if (
      hostName.parse(host) === undefined ||
      !isFilled(user) ||
      !isFilled(database) ||
      database.includes('/')
    )
      return undefined
    if (password === undefined || more === undefined) return undefined
    return {
      host,
      port: url.port === '' ? POSTGRES_PORT : Number(url.port),
      user,
      password: password === '' ? undefined : password,
      database,
      ...more,
    }
  },
}

/** Undefined if one is unknown, repeated or invalid. */
function databaseParameters(
  given: URLSearchParams,
): Pick<DatabaseServer, 'tls' | 'rootCertificate' | 'isPooled'> | undefined {
  const names = [...given.keys()]
  const areKnown = names.every(name => DATABASE_PARAMETERS.has(name))
  if (!areKnown || new Set(names).size < names.length) return undefined
  const tls = TLS_MODES.find(mode => mode === (given.get('sslmode') ?? 'disable'))
  const rootCertificate = given.get('sslrootcert') ?? undefined
  const pooled = given.get('pgbouncer') ?? 'false'
  if (tls === undefined || !['true', 'false'].includes(pooled)) return undefined
  if (rootCertificate !== undefined && (rootCertificate === '' || tls !== 'verify-full')) return undefined
  return { tls, rootCertificate, isPooled: pooled === 'true' }
}

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/

/** The rules of S3 for names of buckets. */
export const bucketName: Form<string> = {
  expected: '3 to 63 lower-case letters, digits, dots and hyphens, such as tollgate-results',
  parse: text => (BUCKET.test(text) ? text : undefined),
}

const REGION = /^[a-z0-9-]{1,64}$/

export const regionName: Form<string> = {
  expected: 'lower-case letters, digits and hyphens, such as eu-central-1',
  parse: text => (REGION.test(text) ? text : undefined),
}

const OBJECT_PREFIX = /^[A-Za-z0-9._-]{1,64}(?:\/[A-Za-z0-9._-]{1,64}){0,7}$/

/** Slashes at both ends are removed. */
export const objectPrefix: Form<string> = {
  expected:
    'names of letters, digits, dots, hyphens and underscores, separated by slashes, such as team/gateway',
  parse: text => {
    const prefix = text.replace(/^\/+|\/+$/g, '')
    return OBJECT_PREFIX.test(prefix) && !/(?:^|\/)\.{1,2}(?:\/|$)/.test(prefix) ? prefix : undefined
  },
}

function isFilled(text: string | undefined): text is string {
  return text !== undefined && text !== ''
}

/** Undefined for % codes that are no text, and for control characters, which could end a command. */
function decoded(text: string): string | undefined {
  try {
    const plain = decodeURIComponent(text)
    return /\p{Cc}/u.test(plain) ? undefined : plain
  } catch {
    return undefined
  }
}
