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
const NAME = /(?<![\w-])(?:[a-z0-9_-]{1,63}\.){1,15}[a-z0-9][a-z0-9-]{1,62}(?![\w-])(?::\d{1,5}(?!\w))?/gi
const LOCALHOST = /\blocalhost(?::\d{1,5})?\b/gi
const IPV4 = /(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.]\d)(?::\d{1,5})?/g
const IPV6 = /\[(?=[0-9a-f.]{0,39}:[0-9a-f.]{0,39}:)[0-9a-f:.]{2,45}\](?::\d{1,5})?/gi
/** The name in the error of a resolver, also if it is one word. */
const UNRESOLVED =
  /(\b(?:ENOTFOUND|EAI_AGAIN|(?:resolve|unknown) host(?:name)?:?)\s{1,3}["'`]?)[a-z0-9](?:[\w.-]{0,252}[\w-])?/gi
const GO_LOOKUP = /\b(lookup )[\w.-]{1,253}(?= on |: no such host)/gi
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
    .replace(UNRESOLVED, '$1[host]')
    .replace(GO_LOOKUP, '$1[host]')
    .replace(NAME, withoutHost)
    .replace(LOCALHOST, '[host]')
    .replace(IPV4, '[host]')
    .replace(IPV6, '[host]')
    .replace(BEARER, 'Bearer [redacted]')
    .replace(SECRET_KEY, '[redacted]')
    .replace(KEY, '[redacted]')
    .replace(ORGANISATION, '[organization]')
}

/** Ends of host names that are not also ends of field paths or of file names. */
const DOMAINS = wordSet(
  'com net org edu gov io ai dev app cloud xyz tech',
  'co cn eu de uk fr nl ch cz dk fi gr hk hu jp kr lt lv mx nz pk pt ro ru sg th tr tv tw ua vn za br gg fm ly vc su',
  'local localdomain localhost internal lan svc corp intranet consul arpa onion',
)
/** Ends of file names. Those of images, sound and video, of documents, of code and of archives. */
const FILE_ENDS = wordSet(
  'avif gif jpeg jpg png svg webp m4a mp3 ogg wav mov mp4 webm',
  'csv docx htm html json jsonl log md pdf pptx toml txt xlsx xml yaml yml',
  'c cpp css go h java js jsx php py rb rs sh sql ts tsx',
  'bin gguf gz onnx pt safetensors tar zip',
)
/** Domains of providers that end in an English word. */
const PROVIDER_DOMAIN = /(?:^|\.)(?:fal\.(?:run|media)|replicate\.delivery|modal\.run|bfl\.ml|hf\.space)$/
/** The first label of a machine's name: `gpu-7`, `node12`, `ip-10-0-0-1`. */
const MACHINE =
  /^(?:api|cdn|db|edge|gateway|gpu|gw|host|ip|lb|llm|node|pod|proxy|queue|server|srv|vllm|vm|web|worker|www)-?\d[\d-]*$/
/** The first label of a service's name. It may be a word, so the name must have three labels. */
const SERVICE = /^(?:api|cdn|gateway|inference|proxy|queue|storage|www)$/

function wordSet(...lines: readonly string[]): ReadonlySet<string> {
  return new Set(lines.flatMap(line => line.split(' ')))
}

/** A name with dots, with `[host]` in place of the host that it is or begins with. */
function withoutHost(name: string): string {
  const [, path = name, port] = /^(.*?)(:\d+)?$/s.exec(name) ?? []
  const labels = path.split('.')
  // A sentence may follow without a space: `api.example.com.Try again`.
  const next = labels.findIndex((label, at) => at > 1 && /^[A-Z][a-z]/.test(label))
  if (next > 0 && isHost(labels.slice(0, next))) return `[host].${labels.slice(next).join('.')}${port ?? ''}`
  const isKnown = labels.some((_, at) => at > 0 && isHost(labels.slice(0, at + 1)))
  return isKnown || (port !== undefined && isMachineName(labels)) ? '[host]' : name
}

function isHost(labels: readonly string[]): boolean {
  const [first = '', ...others] = labels.map(label => label.toLowerCase())
  const last = others.at(-1) ?? ''
  if (DOMAINS.has(last) || PROVIDER_DOMAIN.test([first, ...others].join('.'))) return true
  return isMachineName(labels) && (MACHINE.test(first) || (SERVICE.test(first) && others.length > 1))
}

/** Neither a number with a fraction nor a file. */
function isMachineName(labels: readonly string[]): boolean {
  const last = labels.at(-1)?.toLowerCase() ?? ''
  return /^[a-z][a-z0-9-]+$/.test(last) && !FILE_ENDS.has(last)
}

/** A JSON value with every string in it scrubbed. */
export function scrubTexts(value: unknown, secrets: UpstreamSecrets): unknown {
  if (typeof value === 'string') return scrub(value, secrets)
  if (Array.isArray(value)) return value.map(item => scrubTexts(item, secrets))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, scrubTexts(member, secrets)]))
}

/** Matches a base URL's host, other hosts of its domain, the domain itself, and longer names that begin with these. */
function hostPattern(baseUrl: string): RegExp {
  const { hostname } = new URL(baseUrl)
  const labels = hostname.split('.')
  const isDomain = labels.length > 2 && !/^\d+$/.test(labels.at(-1) ?? '')
  const domain = isDomain ? labels.slice(1).join('.') : hostname
  const name = `(?:[a-z0-9-]{1,63}\\.){0,9}${escaped(domain)}(?:\\.[a-z0-9-]{1,63}){0,9}`
  return new RegExp(`(?<![\\w-])${name}(?![\\w-])(?::\\d{1,5})?`, 'gi')
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\-]/g, '\\$&')
}
