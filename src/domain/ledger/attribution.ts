import { GatewayError } from '../errors.ts'

/** The names and values that a client gave its request, in the order of the names. */
export type Tags = ReadonlyMap<string, string>

/** For whom a request was made, as its client says. It is kept with the charge. */
export type Attribution = {
  /** Absent for none, as in most requests. */
  readonly tags?: Tags
  /** The end user of the customer. Absent if the request names none. */
  readonly userId?: string
}

/** The attribution in a larger value. */
export function attributionOf({ tags, userId }: Attribution): Attribution {
  return { ...(tags !== undefined && { tags }), ...(userId !== undefined && { userId }) }
}

export const TAGS_MAX = 10
/** Of the value of a tag. */
const TAG_CHARS_MAX = 64
/** The longest id that Anthropic accepts. Claude Code sends up to 190 characters. */
const USER_ID_CHARS_MAX = 256

const NAME = /^[a-z0-9_.-]{1,32}$/
const VALUE = /^[\x20-\x2b\x2d-\x7e]+$/
const RULE =
  'Write a tag as name=value. A name has 1 to 32 letters, digits, ".", "_" and "-". A value has 1 to 64 characters of ASCII without a comma'

/**
 * Reads tags as a header has them: `team=a,feature=b`. Case of names does not matter. Undefined if there are none.
 * `param` is the name of the header. Throws `invalid_field` for a wrong tag, for a name that comes twice, and for more
 * than ten tags.
 */
export function readTags(text: string | null, param: string): Tags | undefined {
  if (text === null) return undefined
  const tags = new Map<string, string>()
  for (const item of text.split(',')) {
    if (item.trim() === '') continue
    const tag = tagIn(item)
    if (tag === undefined) throw wrongTag(param, `has the tag ${shown(item)}. ${RULE}`)
    if (tags.has(tag.name)) throw wrongTag(param, `has the tag "${tag.name}" more than once. Send it once`)
    tags.set(tag.name, tag.value)
    if (tags.size > TAGS_MAX) throw wrongTag(param, `has more than ${TAGS_MAX} tags. Send fewer`)
  }
  return tags.size === 0 ? undefined : sorted(tags)
}

/** Requests with each of these tags, of this user, and with one of these keys. */
export type AttributionFilter = {
  readonly tags: Tags
  readonly userId?: string
  /** By the store's integer keys. A project is known through its keys. */
  readonly apiKeyIds?: ReadonlySet<number>
}

/** A request with its key, by the store's integer key. */
export type AttributedRequest = Attribution & { readonly apiKeyId: number }

export function isOf({ tags, userId, apiKeyId }: AttributedRequest, filter: AttributionFilter): boolean {
  if (filter.apiKeyIds?.has(apiKeyId) === false) return false
  if (filter.userId !== undefined && userId !== filter.userId) return false
  for (const [name, value] of filter.tags) if (tags?.get(name) !== value) return false
  return true
}

/** What sums of usage have in common: the value of one tag, or the user. */
export type AttributionGrouping = { readonly by: 'user' } | { readonly by: 'tag'; readonly name: string }

/** The group of a request. Null if the request does not have the tag, or names no user. */
export function groupOf({ tags, userId }: Attribution, grouping: AttributionGrouping): string | null {
  return (grouping.by === 'user' ? userId : tags?.get(grouping.name)) ?? null
}

/** Reads `user` or `tag:team`. Throws `invalid_field`. */
export function readGrouping(text: string, param: string): AttributionGrouping {
  if (text === 'user') return { by: 'user' }
  const name = text.startsWith(TAG_PREFIX) ? tagNameIn(text.slice(TAG_PREFIX.length)) : undefined
  if (name !== undefined) return { by: 'tag', name }
  throw wrongTag(param, 'must be "user", or "tag:" and the name of a tag, such as "tag:team"')
}

const TAG_PREFIX = 'tag:'

function tagNameIn(text: string): string | undefined {
  const name = text.trim().toLowerCase()
  return NAME.test(name) ? name : undefined
}

/** Tags as they are stored. Equal tags have the same text. */
export function formatTags(tags: Tags): string {
  return Array.from(tags, ([name, value]) => `${name}=${value}`).join(',')
}

/** The tags of a text that `formatTags` made. */
export function storedTags(text: string): Tags {
  return new Map(
    text.split(',').map(tag => {
      const end = tag.indexOf('=')
      return [tag.slice(0, end), tag.slice(end + 1)]
    }),
  )
}

/**
 * An id as it is kept: its first 256 characters, with control characters replaced, so that it fits on a line. The field
 * belongs to the provider, so a longer id is not refused. Undefined for a value that names no user.
 */
export function userIdFrom(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  const id = value.slice(0, USER_ID_CHARS_MAX).toWellFormed().replaceAll(CONTROL, '\uFFFD').trim()
  return id === '' ? undefined : id
}

// eslint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g

function tagIn(text: string): { readonly name: string; readonly value: string } | undefined {
  const end = text.indexOf('=')
  if (end === -1) return undefined
  const name = tagNameIn(text.slice(0, end))
  const value = text.slice(end + 1).trim()
  if (name === undefined || value.length > TAG_CHARS_MAX || !VALUE.test(value)) return undefined
  return { name, value }
}

function sorted(tags: Tags): Tags {
  return new Map([...tags].sort(([left], [right]) => (left < right ? -1 : 1)))
}

/** A long text is cut. */
function shown(text: string): string {
  return JSON.stringify(text.trim().slice(0, TAG_CHARS_MAX))
}

function wrongTag(param: string, problem: string): GatewayError {
  return new GatewayError('invalid_field', `"${param}" ${problem}.`, { param, shouldRetry: false })
}
