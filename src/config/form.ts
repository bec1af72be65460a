import { isIP } from 'node:net'
import {
  isMailAddress,
  MAIL_ADDRESS,
  parseMailbox,
  repeatedAddress,
  type Mailbox,
} from '../domain/mail/mail-address.ts'
import { parseUsd, type NanoUsd } from '../domain/money.ts'
import type { DatabaseServer } from '../gateway/ports/database-server.ts'
import type { SmtpServer } from '../gateway/ports/mail.ts'
import type { CacheServer } from '../gateway/ports/shared-cache.ts'

/** How the text of a setting is parsed, and the description of valid text. */
export type Form<Value> = {
  /** Completes the sentence “It must be …”. */
  readonly expected: string
  /** Undefined if the text is invalid. */
  readonly parse: (text: string) => Value | undefined
}

const MS_PER_S = 1000
const MS_PER_DAY = 86_400_000
const BYTES_PER_MB = 1_048_576
const WHOLE = /^\d{1,9}$/
const DECIMAL = /^\d{1,9}(?:\.\d{1,3})?$/
const VISIBLE = /^[\u0021-\u007e]+$/
const HOST = /^[A-Za-z0-9.:_-]{1,253}$/
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/
const REGION = /^[a-z0-9-]{1,64}$/
const OBJECT_PREFIX = /^[A-Za-z0-9._-]{1,64}(?:\/[A-Za-z0-9._-]{1,64}){0,7}$/
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const SHOWN_NAME = /^[A-Za-z0-9._-]{1,64}$/
const HEADER_WORD = /^[a-z0-9]+(?:-[a-z0-9]+)*$/
const HEADER_WORD_LENGTH_MAX = 32
/** A key of this length cannot be guessed over a network by trying every combination. */
const GUESSED_LENGTH_MIN = 8

type Range = { readonly min: number; readonly max: number }

export function wholeNumber({ min, max }: Range): Form<number> {
  return {
    expected: `a whole number from ${min} to ${max}`,
    parse: text => (WHOLE.test(text) ? within(Number(text), { min, max }) : undefined),
  }
}

/** Seconds with up to three decimals, as milliseconds. */
export function seconds({ min, max }: Range): Form<number> {
  return {
    expected: `a number of seconds from ${min} to ${max}`,
    parse: text => scaled(text, MS_PER_S, { min, max }),
  }
}

/** Days with a fraction of up to three decimals, as milliseconds. */
export function days({ min, max }: Range): Form<number> {
  return {
    expected: `a number of days from ${min} to ${max}`,
    parse: text => scaled(text, MS_PER_DAY, { min, max }),
  }
}

/** Megabytes of 1,048,576 bytes with up to three decimals, as bytes. */
export function megabytes({ min, max }: Range): Form<number> {
  return {
    expected: `a number of megabytes from ${min} to ${max}`,
    parse: text => scaled(text, BYTES_PER_MB, { min, max }),
  }
}

export function oneOf<const Word extends string>(words: readonly Word[]): Form<Word> {
  return {
    expected: `one of ${words.join(', ')}`,
    parse: text => words.find(word => word === text),
  }
}

/** Dollars with up to nine decimals. */
export const dollars: Form<NanoUsd> = {
  expected: 'an amount in dollars such as 1000 or 12.5',
  parse: text => parseUsd(text),
}

/** Also accepts true/false, yes/no and 1/0. */
export const onOff: Form<boolean> = {
  expected: 'on or off',
  parse: text => {
    const word = text.toLowerCase()
    if (['on', 'true', 'yes', '1'].includes(word)) return true
    return ['off', 'false', 'no', '0'].includes(word) ? false : undefined
  },
}

/** The trailing slash is removed. */
export const webAddress: Form<string> = {
  expected: 'an http or https address without user, query or fragment, such as https://api.example.com',
  parse: text => {
    const url = URL.canParse(text) ? new URL(text) : undefined
    if (url === undefined || !['http:', 'https:'].includes(url.protocol)) return undefined
    if (url.username !== '' || url.password !== '' || /[?#]/.test(text)) return undefined
    return url.href.replace(/\/+$/, '')
  },
}

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
    if (!HOST.test(host) || user === undefined || password === undefined) return undefined
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
    if (!HOST.test(host) || user === undefined || password === undefined || database === undefined)
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
    if (!HOST.test(host) || !isFilled(user) || !isFilled(database) || database.includes('/')) return undefined
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

export const mailbox: Form<Mailbox> = {
  expected: `${MAIL_ADDRESS}, or a name and an address such as Example <alerts@example.com>`,
  parse: text => parseMailbox(text.trim()),
}

/** `off` is an empty list. */
export function mailAddresses({ max }: { readonly max: number }): Form<readonly string[]> {
  return {
    expected: `off, or 1 to ${max} different e-mail addresses separated by commas, such as ada@example.com`,
    parse: text => {
      if (text === 'off') return []
      const addresses = text.split(',').map(address => address.trim())
      const isFine = addresses.length <= max && repeatedAddress(addresses) === undefined
      return isFine && addresses.every(isMailAddress) ? addresses : undefined
    },
  }
}

/** `off` is an empty set. */
export const webOrigins: Form<'*' | ReadonlySet<string>> = {
  expected: '*, off, or origins separated by commas, such as https://app.example.com',
  parse: text => {
    if (text === '*') return '*'
    if (text === 'off') return new Set()
    const origins = text.split(',').map(origin => origin.trim())
    const isOrigin = (origin: string) => URL.canParse(origin) && new URL(origin).origin === origin
    return origins.every(isOrigin) ? new Set(origins) : undefined
  },
}

/** `off` is an empty list. An address without a prefix is that address alone. */
export const subnets: Form<readonly Subnet[]> = {
  expected: 'off, or addresses separated by commas, such as 127.0.0.1, 10.0.0.0/8',
  parse: text => {
    if (text === 'off') return []
    const parsed = text.split(',').map(part => subnetOf(part.trim()))
    return parsed.every(subnet => subnet !== undefined) ? parsed : undefined
  },
}

type Subnet = { readonly address: string; readonly prefix: number }

function subnetOf(text: string): Subnet | undefined {
  const [address = '', length, ...rest] = text.split('/')
  const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1
  const prefix =
    length === undefined
      ? bits
      : within(/^\d{1,3}$/.test(length) ? Number(length) : -1, { min: 0, max: bits })
  return bits < 0 || rest.length > 0 || prefix === undefined ? undefined : { address, prefix }
}

export const hostName: Form<string> = {
  expected: 'a host name or an IP address, such as 127.0.0.1 or 0.0.0.0',
  parse: text => (HOST.test(text) ? text : undefined),
}

export const headerWord: Form<string> = {
  expected: `at most ${HEADER_WORD_LENGTH_MAX} lower-case letters, digits and single hyphens, such as acme`,
  parse: text => (HEADER_WORD.test(text) && text.length <= HEADER_WORD_LENGTH_MAX ? text : undefined),
}

const PATH_SEGMENTS = /^(?:\/[A-Za-z0-9._~-]{1,64}){1,8}$/
/** Their paths are the gateway's own. */
const OWN_PATHS = /^\/(?:v1|admin|health|metrics|docs|openapi\.(?:json|yaml))(?:\/|$)/

/** A path of the gateway that its own routes do not need. */
export const freePath: Form<`/${string}` | 'off'> = {
  expected: 'off, or a path such as /console that no route of the gateway has',
  parse: text => {
    if (text === 'off') return text
    const path = text.replace(/\/+$/, '')
    return PATH_SEGMENTS.test(path) && !OWN_PATHS.test(path) && !/\/\.{1,2}(?:\/|$)/.test(path)
      ? (path as `/${string}`)
      : undefined
  },
}

export const filePath: Form<string> = {
  expected: 'a path',
  parse: text => (text.includes('\0') ? undefined : text),
}

/** The rules of S3 for names of buckets. */
export const bucketName: Form<string> = {
  expected: '3 to 63 lower-case letters, digits, dots and hyphens, such as tollgate-results',
  parse: text => (BUCKET.test(text) ? text : undefined),
}

export const regionName: Form<string> = {
  expected: 'lower-case letters, digits and hyphens, such as eu-central-1',
  parse: text => (REGION.test(text) ? text : undefined),
}

/** Slashes at both ends are removed. */
export const objectPrefix: Form<string> = {
  expected:
    'names of letters, digits, dots, hyphens and underscores, separated by slashes, such as team/gateway',
  parse: text => {
    const prefix = text.replace(/^\/+|\/+$/g, '')
    return OBJECT_PREFIX.test(prefix) && !/(?:^|\/)\.{1,2}(?:\/|$)/.test(prefix) ? prefix : undefined
  },
}

/** A short text on one line. */
export const buttonText: Form<string> = {
  expected: 'at most 40 characters on one line, such as Example login',
  parse: text => (/^[^\p{C}]{1,40}$/u.test(text.trim()) ? text.trim() : undefined),
}

/** A secret that is sent in a request header. */
export const headerSecret: Form<string> = {
  expected: 'visible ASCII characters without spaces',
  parse: text => (VISIBLE.test(text) ? text : undefined),
}

/** A secret that others could try to guess. */
export const guessedSecret: Form<string> = {
  expected: `at least ${GUESSED_LENGTH_MIN} visible ASCII characters without spaces`,
  parse: text => (VISIBLE.test(text) && text.length >= GUESSED_LENGTH_MIN ? text : undefined),
}

const SECRET_KEY_BYTES = 32

/** The key that secrets in the books are sealed with. */
export const secretKey: Form<Uint8Array> = {
  expected: `${SECRET_KEY_BYTES} random bytes in base64. Make them with "openssl rand -base64 ${SECRET_KEY_BYTES}"`,
  parse: text => {
    const bytes = BASE64.test(text.trim())
      ? Uint8Array.from(atob(text.trim()), c => c.charCodeAt(0))
      : undefined
    return bytes?.byteLength === SECRET_KEY_BYTES ? bytes : undefined
  },
}

/** A name that is shown in lists and log lines. */
export const shownName: Form<string> = {
  expected: 'at most 64 letters, digits, dots, hyphens and underscores, such as gateway-1',
  parse: text => (SHOWN_NAME.test(text) ? text : undefined),
}

function scaled(text: string, unit: number, range: Range): number | undefined {
  const amount = DECIMAL.test(text) ? within(Number(text), range) : undefined
  return amount === undefined ? undefined : Math.round(amount * unit)
}

function within(value: number, { min, max }: Range): number | undefined {
  return value >= min && value <= max ? value : undefined
}
