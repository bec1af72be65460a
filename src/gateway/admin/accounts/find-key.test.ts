import { createHash } from 'node:crypto'
import { expect, test } from 'bun:test'
import { anAccount, anAudit } from '../../../../test/support/ledger-builders.ts'
import { rejection } from '../../../../test/support/rejection.ts'
import { aSqliteStore } from '../../../../test/support/test-store.ts'
import { apiKeyPrefix, apiKeyText } from '../../../domain/accounts/api-key-text.ts'
import { findKey, findKeyOfPath } from './find-key.ts'

const sha256 = (text: string) => createHash('sha256').update(text).digest()

/** Two keys of one account whose first 12 characters are the same, and one of its own. */
async function setUp() {
  const store = aSqliteStore()
  const { apiKeys } = store
  const { accountId } = await anAccount(store, {})
  const keyOf = async (publicId: string, random: Uint8Array) => {
    const text = apiKeyText(random)
    const prefix = apiKeyPrefix(text)
    await apiKeys.create({
      publicId,
      accountId,
      name: publicId,
      hash: sha256(text),
      prefix,
      audit: anAudit(),
    })
    return text
  }
  const texts = [
    await keyOf('key_first', new Uint8Array(32)),
    await keyOf(
      'key_second',
      Uint8Array.from({ length: 32 }, (_, index) => index >> 4),
    ),
    await keyOf('key_own', new Uint8Array(32).fill(255)),
  ] as const
  return {
    texts,
    find: (name: string) => findKey(name, { apiKeys, sha256 }),
    findOfPath: (name: string) => findKeyOfPath(name, { apiKeys, sha256 }),
  }
}

test('a key is found by its id, its first characters and its text', async () => {
  const { texts, find } = await setUp()
  const [first, second, own] = texts

  const found = [
    await find('key_own'),
    await find(apiKeyPrefix(own)),
    await find(`${apiKeyPrefix(own)}…`),
    await find(own),
    await find(first),
    await find(` ${second}\n`),
  ]

  expect(found.map(({ publicId }) => publicId)).toEqual([
    'key_own',
    'key_own',
    'key_own',
    'key_own',
    'key_first',
    'key_second',
  ])
})

test('first characters that several keys have are refused with the ids of these keys', async () => {
  const { texts, find } = await setUp()

  const error = await rejection(find(apiKeyPrefix(texts[0])))

  expect(error).toMatchObject({
    code: 'invalid_field',
    message: 'Several keys begin with these characters. Use the id of one of them: key_first, key_second.',
    extras: { param: 'key' },
  })
})

test.each([
  ['an unknown id', 'key_none', 'There is no key with this id.'],
  ['unknown first characters', 'tg_live_none', 'There is no key with these first 12 characters.'],
  ['an unknown text', apiKeyText(new Uint8Array(32).fill(9)), 'There is no key with this text.'],
  [
    'anything else',
    'sk-a-secret-of-a-provider',
    'There is no such key. A key is found by its id (key_…), by its first 12 characters or by its text (tg_live_…).',
  ],
])('%s is refused without being repeated', async (_, name, message) => {
  const { find } = await setUp()

  const error = await rejection(find(name))

  expect(error).toMatchObject({ code: 'not_found', message })
})

test('a path names a key by its id or its first characters, and its text in a path is refused', async () => {
  const { texts, findOfPath } = await setUp()
  const text = texts[2]

  const found = [await findOfPath('key_own'), await findOfPath(`${apiKeyPrefix(text)}…`)]
  const refused = [await rejection(findOfPath(text)), await rejection(findOfPath(` ${text.slice(0, 13)}…`))]

  expect(found.map(({ publicId }) => publicId)).toEqual(['key_own', 'key_own'])
  const error = { code: 'invalid_field', extras: { param: 'id' } }
  expect(refused).toMatchObject([error, error])
  for (const { message } of refused as Error[]) {
    expect(message).toContain('POST /admin/api/keys/find')
    expect(message).not.toContain(text.slice(0, 13))
  }
})
