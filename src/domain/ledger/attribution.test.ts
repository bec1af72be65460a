import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../errors.ts'
import { formatTags, groupOf, isOf, readGrouping, readTags, storedTags, userIdFrom } from './attribution.ts'

const HEADER = 'x-acme-tags'
const tagsIn = (text: string) => Object.fromEntries(readTags(text, HEADER) ?? [])

describe('tags', () => {
  test.each([
    ['team=a', { team: 'a' }],
    ['team=a,feature=b', { feature: 'b', team: 'a' }],
    [' Team = Red Team ,\tfeature=B ', { feature: 'B', team: 'Red Team' }],
    ['cost.center_1-x=4=2', { 'cost.center_1-x': '4=2' }],
    ['team=a,,', { team: 'a' }],
    ['__proto__=a', Object.fromEntries([['__proto__', 'a']])],
  ])('tags are read from %p', (text, tags) => {
    expect(tagsIn(text)).toEqual(tags)
  })

  test.each([null, '', ' , '])('%p has no tags', text => {
    expect(readTags(text, HEADER)).toBeUndefined()
  })

  test.each([
    ['team', '"x-acme-tags" has the tag "team". Write a tag as name=value.'],
    ['=a', 'has the tag "=a"'],
    ['team=', 'has the tag "team="'],
    ['te am=a', 'has the tag "te am=a"'],
    [`${'n'.repeat(33)}=a`, 'A name has 1 to 32 letters'],
    [`team=${'v'.repeat(65)}`, 'A value has 1 to 64 characters'],
    ['team=a\u0001', 'has the tag "team=a\\u0001"'],
    ['team=é', 'of ASCII without a comma'],
    ['team=a,TEAM=b', 'has the tag "team" more than once'],
    [Array.from({ length: 11 }, (_, index) => `t${index}=a`).join(','), 'has more than 10 tags'],
  ])('%p is refused with a message that names the header and the tag', (text, message) => {
    const read = () => readTags(text, HEADER)

    expect(read).toThrow(GatewayError)
    expect(read).toThrow(message)
    expect(read).toThrow('"x-acme-tags"')
  })

  test('tags are stored in the order of their names, and read again', () => {
    const tags = readTags('team=a=b,feature=x y', HEADER)!

    expect(formatTags(tags)).toBe('feature=x y,team=a=b')
    expect([...storedTags(formatTags(tags))]).toEqual([...tags])
  })

  test('ten tags of the greatest length are accepted', () => {
    const names = Array.from({ length: 10 }, (_, index) => `${index}`.padStart(32, 'n'))
    const text = names.map(name => `${name}=${'v'.repeat(64)}`).join(',')

    expect(formatTags(readTags(text, HEADER)!)).toBe(text)
  })
})

describe('a filter and a grouping', () => {
  const request = {
    tags: new Map([
      ['team', 'a'],
      ['feature', 'b'],
    ]),
    userId: 'ada',
  }

  test.each([
    ['no condition', '', undefined, true],
    ['one tag of several', 'team=a', undefined, true],
    ['all tags', 'team=a,feature=b', 'ada', true],
    ['another value', 'team=A', undefined, false],
    ['a tag that the request does not have', 'team=a,stage=x', undefined, false],
    ['another user', 'team=a', 'ben', false],
  ])('a filter selects requests by tags and user: %s', (_, tags, userId, isSelected) => {
    const filter = { tags: readTags(tags, HEADER) ?? new Map(), ...(userId !== undefined && { userId }) }

    expect(isOf({ ...request, apiKeyId: 1 }, filter)).toBe(isSelected)
  })

  test('a request without tags and user is of no tag and of no user', () => {
    const plain = { apiKeyId: 1 }

    expect(isOf(plain, { tags: new Map([['team', 'a']]) })).toBe(false)
    expect(isOf(plain, { tags: new Map(), userId: 'ada' })).toBe(false)
    expect(isOf(plain, { tags: new Map() })).toBe(true)
  })

  test('a filter with keys selects only requests with one of them', () => {
    const [one, none] = [new Set([1, 2]), new Set<number>()]

    expect(isOf({ apiKeyId: 1 }, { tags: new Map(), apiKeyIds: one })).toBe(true)
    expect(isOf({ apiKeyId: 3 }, { tags: new Map(), apiKeyIds: one })).toBe(false)
    expect(isOf({ apiKeyId: 1 }, { tags: new Map(), apiKeyIds: none })).toBe(false)
  })

  test.each([
    ['tag:team', 'a', null],
    ['tag:Team', 'a', null],
    ['tag:stage', null, null],
    ['user', 'ada', null],
  ])('requests are grouped by %p', (text, group, groupOfNone) => {
    const grouping = readGrouping(text, 'group_by')

    expect(groupOf(request, grouping)).toBe(group)
    expect(groupOf({}, grouping)).toBe(groupOfNone)
  })

  test.each(['', 'team', 'tag', 'tag:', 'tag:te am', 'users', 'tag:team,user'])(
    'a grouping is not %p, and the message says what it is',
    text => {
      expect(() => readGrouping(text, 'group_by')).toThrow(
        '"group_by" must be "user", or "tag:" and the name of a tag, such as "tag:team".',
      )
    },
  )
})

describe('the id of a user', () => {
  const hash = 'f'.repeat(64)
  const uuid = '01234567-89ab-cdef-0123-456789abcdef'

  test.each([
    ['ada', 'ada'],
    [`user_${hash}_account_${uuid}_session_${uuid}`, `user_${hash}_account_${uuid}_session_${uuid}`],
    // What newer versions of Claude Code send.
    [
      JSON.stringify({ device_id: hash, account_uuid: uuid, session_id: uuid }),
      JSON.stringify({ device_id: hash, account_uuid: uuid, session_id: uuid }),
    ],
    ['Zoë 李', 'Zoë 李'],
    ['a\nb\u0000', 'a\uFFFDb\uFFFD'],
    ['\uD800', '\uFFFD'],
    ['x'.repeat(300), 'x'.repeat(256)],
  ])('the id of a user is kept: %p', (sent, kept) => {
    expect(userIdFrom(sent)).toBe(kept)
  })

  test.each([undefined, null, '', '  ', 7, { id: 'ada' }])('%p names no user', value => {
    expect(userIdFrom(value)).toBeUndefined()
  })
})
