import { isJsonObject } from './json/parse-json.ts'

/** The known names of an upstream. Links, hosts, keys and organisations are also found by their shape. */
export type UpstreamSecrets = {
  readonly baseUrls: readonly string[]
  readonly keys: readonly string[]
}

/** No known names. */
export const NO_SECRETS: UpstreamSecrets = { baseUrls: [], keys: [] }

/** A shorter key is a mistake, and removing it would damage words. */
const KEY_CHARS_MIN = 4

// Every repetition is bounded, so that no text makes these expressions slow.
const LINK = /\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s"'`<>()[\]{}\\]*[^\s"'`<>()[\]{}\\.,;:!?]/gi
const HOST =
  /(?<![\w-])(?:[a-z0-9-]{1,63}\.){1,9}(?:com|net|org|io|ai|dev|app|cloud|co|cn|eu|local|localdomain|internal|lan|svc)\b(?::\d{1,5})?/gi
const LOCALHOST = /\blocalhost(?::\d{1,5})?\b/gi
const IPV4 = /(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.]\d)(?::\d{1,5})?/g
const IPV6 = /\[(?=[0-9a-f.]{0,39}:[0-9a-f.]{0,39}:)[0-9a-f:.]{2,45}\](?::\d{1,5})?/gi
const BEARER = /\bbearer\s+[^\s"',;]+/gi
const KEY =
  /\b(?:pk|rk|gsk|xai|hf|r8|tgp|nvapi|pplx)[-_](?=[\w*.-]{0,200}[\d*])[\w*.-]{0,200}[\w*]|\bAIza[\w-]{20,}/g
const SECRET_KEY = /\bsk[-_][\w*.-]{0,200}[\w*]/g
const ORGANISATION = /\borg-\w{3,}|\b(?:org|proj|user|team|workspace|acct)[-_](?=\w*\d)\w{8,}/g

/**
 * Removes the texts that identify the upstream and the operator's account there from an error: links, host names,
 * addresses, keys and organisation ids. It may remove a harmless word, so it is never used on answers.
 */
export function scrub(text: string, { baseUrls, keys }: UpstreamSecrets = NO_SECRETS): string {
  let scrubbed = text
  for (const key of keys) {
    if (key.length >= KEY_CHARS_MIN) scrubbed = scrubbed.replaceAll(key, '[redacted]')
  }
  scrubbed = scrubbed.replace(LINK, '[link]')
  for (const url of baseUrls) scrubbed = scrubbed.replace(hostPattern(url), '[host]')
  return scrubbed
    .replace(HOST, '[host]')
    .replace(LOCALHOST, '[host]')
    .replace(IPV4, '[host]')
    .replace(IPV6, '[host]')
    .replace(BEARER, 'Bearer [redacted]')
    .replace(SECRET_KEY, '[redacted]')
    .replace(KEY, '[redacted]')
    .replace(ORGANISATION, '[organization]')
}

/** A JSON value with every string in it scrubbed. */
export function scrubTexts(value: unknown, secrets: UpstreamSecrets): unknown {
  if (typeof value === 'string') return scrub(value, secrets)
  if (Array.isArray(value)) return value.map(item => scrubTexts(item, secrets))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, scrubTexts(member, secrets)]))
}

/** Matches a base URL's host, other hosts of its domain, and the domain itself. */
function hostPattern(baseUrl: string): RegExp {
  const { hostname } = new URL(baseUrl)
  const labels = hostname.split('.')
  const isDomain = labels.length > 2 && !/^\d+$/.test(labels.at(-1) ?? '')
  const domain = isDomain ? labels.slice(1).join('.') : hostname
  return new RegExp(`(?<![\\w-])(?:[a-z0-9-]{1,63}\\.){0,9}${escaped(domain)}(?![\\w-])(?::\\d{1,5})?`, 'gi')
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\-]/g, '\\$&')
}
