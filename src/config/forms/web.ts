import { isIP } from 'node:net'
import type { Form } from './form.ts'
import { switchOf, within } from './values.ts'

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

/** Loopback and private addresses. */
const OWN_NETWORKS = ['127.0.0.0/8', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '::1', 'fc00::/7']

/** `off` is an empty list, and `on` all own networks. An address without a prefix is that address alone. */
export const subnets: Form<readonly Subnet[]> = {
  expected: 'on, off, or addresses separated by commas, such as 127.0.0.1, 10.0.0.0/8',
  parse: text => {
    const isOn = switchOf(text)
    if (isOn !== undefined) return isOn ? subnets.parse(OWN_NETWORKS.join()) : []
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

const HOST = /^[A-Za-z0-9.:_-]{1,253}$/

export const hostName: Form<string> = {
  expected: 'a host name or an IP address, such as 127.0.0.1 or 0.0.0.0',
  parse: text => (HOST.test(text) ? text : undefined),
}

const HEADER_WORD = /^[a-z0-9]+(?:-[a-z0-9]+)*$/
const HEADER_WORD_LENGTH_MAX = 32

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
