import { expect, test } from 'bun:test'
import { admitCaller, type CallerRecord } from '../gateway/admission/admit-caller.ts'
import type { Authenticated } from '../gateway/ports/access/api-keys.ts'
import { presentedKey } from './incoming-request.ts'

const NOW = Date.parse('2027-01-16T00:00:00Z')
const known = {
  account: { publicId: 'acct_1', suspendedAtMs: null },
  apiKey: { publicId: 'key_1', disabledAtMs: null },
} as Authenticated
const arrival = { route: undefined, clientAddress: () => undefined }
const ports = {
  hashKey: (key: string) => `hash of ${key}`,
  limits: { recentRefusal: () => undefined },
  clock: { now: () => NOW },
  apiKeys: {
    authenticate: async (hash: string) => (hash === 'hash of good' ? known : undefined),
    noteUse: () => undefined,
  },
}

const outcome = (headers: Readonly<Record<string, string>>) =>
  admitCaller({ key: presentedKey({ header: name => headers[name] ?? null }), ...arrival }, {}, ports).then(
    () => 'known',
    (error: Error) => error.message,
  )

const UNKNOWN = 'This API key is unknown or was revoked.'
const NONE = expect.stringContaining('No API key was given.')

test.each([
  ['authorization', { authorization: 'Bearer good' }],
  ['authorization in another case', { authorization: 'bearer  good ' }],
  ['x-api-key', { 'x-api-key': 'good' }],
  ['api-key', { 'api-key': 'good' }],
  ['authorization before the others', { authorization: 'Bearer good', 'x-api-key': 'bad', 'api-key': 'bad' }],
  ['x-api-key before api-key', { 'x-api-key': 'good', 'api-key': 'bad' }],
  [
    'x-api-key beside an authorization of another scheme',
    { authorization: 'Basic eA==', 'x-api-key': 'good' },
  ],
  ['x-api-key beside an empty bearer', { authorization: 'Bearer ', 'x-api-key': 'good' }],
])('the key is read from %s', async (_, headers) => {
  expect(await outcome(headers as Record<string, string>)).toBe('known')
})

test.each([
  ['authorization', { authorization: 'Bearer bad', 'x-api-key': 'good' }],
  ['x-api-key', { 'x-api-key': 'bad', 'api-key': 'good' }],
  ['a key longer than any key', { authorization: `Bearer ${'x'.repeat(257)}`, 'x-api-key': 'good' }],
])('the first header that has a key decides: %s', async (_, headers) => {
  expect(await outcome(headers as Record<string, string>)).toBe(UNKNOWN)
})

test.each([{}, { authorization: 'Basic eA==' }, { 'x-api-key': '' }])(
  'a request without a key of a known form has no key: %p',
  async headers => {
    expect(await outcome(headers as Record<string, string>)).toEqual(NONE)
  },
)

test('the log line of a request names its account and its key, also if the account is suspended', async () => {
  const suspended = { ...known, account: { ...known.account, suspendedAtMs: 1 } }
  const record: CallerRecord = {}

  const admitted = admitCaller({ key: 'good', ...arrival }, record, {
    ...ports,
    apiKeys: { ...ports.apiKeys, authenticate: async () => suspended },
  })

  expect(await admitted.catch((error: { code: string }) => error.code)).toBe('account_suspended')
  expect(record).toEqual({ accountId: 'acct_1', apiKeyId: 'key_1' })
})

test.each([
  ['open', null, 'admitted'],
  ['closed', 1, 'project_closed'],
])(
  'a key of a project that is %s is admitted or refused with its own code',
  async (_, closedAtMs, expected) => {
    const project = { id: 1, publicId: 'proj_1', accountId: 1, name: 'web', createdAtMs: 0, closedAtMs }
    const apiKeys = { ...ports.apiKeys, authenticate: async () => ({ ...known, project }) }

    const admitted = admitCaller({ key: 'good', ...arrival }, {}, { ...ports, apiKeys })

    const answer = admitted.then(
      () => 'admitted',
      (error: { code: string }) => error.code,
    )
    expect(await answer).toBe(expected)
  },
)

/** Whether a secret that ends at an instant is admitted, and the refusal. */
async function admittedUntil(secretEnd: Authenticated['secretEnd']): Promise<unknown> {
  const authenticate = async () => ({ ...known, ...(secretEnd === undefined ? {} : { secretEnd }) })
  const apiKeys = { ...ports.apiKeys, authenticate }
  return admitCaller({ key: 'good', ...arrival }, {}, { ...ports, apiKeys }).then(
    () => 'admitted',
    (error: unknown) => error,
  )
}

test.each([
  ['has no end', undefined],
  ['ends in 1 ms', { atMs: NOW + 1, isFinal: false }],
])('a secret that %s is admitted', async (_, secretEnd) => {
  expect(await admittedUntil(secretEnd)).toBe('admitted')
})

test.each([
  ['ends now', { atMs: NOW, isFinal: false }],
  ['was ended at once, before the clock was set back', { atMs: NOW + 5, isFinal: true }],
])('a secret that %s is refused, and the refusal names the time', async (_, secretEnd) => {
  const endedAt = new Date(secretEnd.atMs).toISOString()
  expect(await admittedUntil(secretEnd)).toMatchObject({
    code: 'secret_ended',
    message: `This secret of the API key was rotated out at ${endedAt}. Use the new secret of the key.`,
    extras: { shouldRetry: false },
  })
})
