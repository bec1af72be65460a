import { describe, expect, test } from 'bun:test'
import { formatId } from '../../src/domain/ids.ts'
import { usd } from '../../src/domain/money.ts'
import { NO_USAGE } from '../../src/domain/pricing/usage.ts'
import { percentileMs, type ReportGroup } from '../../src/domain/requests/request-report.ts'
import type {
  RecordedRequest,
  RequestQuery,
  RequestRecordStore,
} from '../../src/gateway/ports/requests/request-records.ts'

const NOW_MS = 1_800_000_000_000
const DAY_MS = 86_400_000

/** Opens a new empty store that keeps records for seven days. */
type OpenRequestRecords = (bounds?: {
  readonly rowsMax?: number
}) => RequestRecordStore | Promise<RequestRecordStore>

/** The id of a request that arrived at that time. */
export function aRequestId(number: number, atMs = NOW_MS): string {
  return formatId('req', { key: BigInt(atMs) << 16n, tail: BigInt(number) })
}

/** A chat request that was charged, unless its members say otherwise. */
export function aRecordedRequest(members: Partial<RecordedRequest> = {}): RecordedRequest {
  return {
    id: aRequestId(1, members.atMs),
    atMs: NOW_MS,
    accountId: 'acct_1',
    apiKeyId: 'key_1',
    route: 'chat',
    status: 200,
    durationMs: 12.345,
    attempts: [{ provider: 'first' }],
    isReplay: false,
    clientDisconnected: false,
    alikeRefusals: 0,
    ...members,
  }
}

/** A record with every member. */
const whole = aRecordedRequest({
  projectId: 'proj_1',
  model: 'gpt-x',
  errorCode: 'upstream_error',
  firstByteMs: 1.5,
  held: usd('9000000000.000000001'),
  required: usd('0.5'),
  refusedBy: { scope: 'key_model', limit: 'month_budget' },
  available: usd('0'),
  attempts: [{ provider: 'first', reason: 'server' }, { provider: 'second' }],
  cost: usd('0.000000001'),
  jobId: 'img_1',
  isReplay: true,
  replayOf: aRequestId(0),
  clientDisconnected: true,
  tags: { team: 'a', feature: '"b"' },
  userId: 'ada',
  alikeRefusals: 3,
})

/** What the records of any store must do. */
export function requestRecordsConform(open: OpenRequestRecords): void {
  async function kept(requests: readonly RecordedRequest[]) {
    const store = await open()
    await write(store, requests)
    const idsOf = async (query: Partial<RequestQuery>) => {
      const page = await store.list({ limit: 10, ...query })
      return page.requests.map(({ id }) => id)
    }
    return { store, idsOf }
  }

  describe('a record', () => {
    test('a record is found by its id with every member', async () => {
      const { store } = await kept([whole])

      expect(await store.find(whole.id)).toEqual(whole)
    })

    test('a record without optional members has none of them', async () => {
      const { store } = await kept([aRecordedRequest()])

      expect(await store.find(aRequestId(1))).toEqual(aRecordedRequest())
    })

    test('a job leads to the request that made it, not to a repeat', async () => {
      const jobId = 'vid_1'
      const { store } = await kept([
        aRecordedRequest({ id: aRequestId(2), jobId, isReplay: true }),
        aRecordedRequest({ id: aRequestId(1), jobId }),
      ])

      expect((await store.find(jobId))?.id).toBe(aRequestId(1))
    })

    test('records of the same time are found by their ids', async () => {
      const requests = [1, 2, 3].map(number => aRecordedRequest({ id: aRequestId(number) }))
      const { store } = await kept(requests)

      expect(await Promise.all(requests.map(({ id }) => store.find(id)))).toEqual(requests)
    })

    test('an id that is not kept finds nothing', async () => {
      const { store } = await kept([whole])

      expect(await store.find(aRequestId(2))).toBeUndefined()
      expect(await store.find('vid_1')).toBeUndefined()
      expect(await store.find('no id')).toBeUndefined()
    })

    test('a later batch changes the count of alike refusals of one record', async () => {
      const [first, second] = [aRequestId(1), aRequestId(2)]
      const { store } = await kept([aRecordedRequest({ id: first }), aRecordedRequest({ id: second })])

      await store.write({ requests: [], alikeRefusals: new Map([[first, 40]]), nowMs: NOW_MS })

      expect((await store.find(first))?.alikeRefusals).toBe(40)
      expect((await store.find(second))?.alikeRefusals).toBe(0)
    })
  })

  describe('a list', () => {
    const requests = [
      aRecordedRequest({ id: 'a', atMs: NOW_MS, durationMs: 5, cost: usd('0') }),
      aRecordedRequest({ id: 'b', atMs: NOW_MS + 2, durationMs: 9, cost: usd('2'), accountId: 'acct_2' }),
      aRecordedRequest({ id: 'c', atMs: NOW_MS + 1, durationMs: 7, apiKeyId: 'key_2', model: 'gpt-x' }),
      aRecordedRequest({
        id: 'd',
        atMs: NOW_MS + 2,
        durationMs: 7,
        status: 402,
        errorCode: 'budget_exceeded',
      }),
      aRecordedRequest({ id: 'e', atMs: NOW_MS + 3, durationMs: 1, status: 499, userId: 'ada' }),
      aRecordedRequest({
        id: 'f',
        atMs: NOW_MS + 4,
        durationMs: 2,
        projectId: 'proj_1',
        tags: { team: 'x' },
      }),
    ]

    test.each([
      ['newest', ['f', 'e', 'd', 'b', 'c', 'a']],
      ['cost', ['b', 'a', 'f', 'e', 'd', 'c']],
      ['duration', ['b', 'd', 'c', 'a', 'f', 'e']],
    ] as const)('a list can be sorted by %s, and read in pages', async (sort, ids) => {
      const { store, idsOf } = await kept(requests)
      const paged: string[] = []
      let cursor: string | undefined
      do {
        const page = await store.list({ sort, limit: 2, ...(cursor !== undefined && { cursor }) })
        paged.push(...page.requests.map(({ id }) => id))
        cursor = page.next
      } while (cursor !== undefined)

      expect(await idsOf({ sort })).toEqual([...ids])
      expect(paged).toEqual([...ids])
    })

    test.each<[string, Partial<RequestQuery>, string[]]>([
      ['an account', { accountId: 'acct_2' }, ['b']],
      ['a key', { apiKeyId: 'key_2' }, ['c']],
      ['a project', { projectId: 'proj_1' }, ['f']],
      ['a model', { model: 'gpt-x' }, ['c']],
      ['a code', { errorCode: 'budget_exceeded' }, ['d']],
      ['a user', { userId: 'ada' }, ['e']],
      ['a tag', { tag: { name: 'team', value: 'x' } }, ['f']],
      ['another value of a tag', { tag: { name: 'team', value: 'y' } }, []],
      ['one status of failures', { status: 499 }, ['e']],
      ['one status of successes', { status: 200, accountId: 'acct_2' }, ['b']],
      ['failures, by code or status', { isFailed: true }, ['e', 'd']],
      [
        'a time range without its end',
        { between: { fromMs: NOW_MS + 1, toMs: NOW_MS + 3 } },
        ['d', 'b', 'c'],
      ],
      ['several filters', { isFailed: true, userId: 'ada', accountId: 'acct_1' }, ['e']],
      ['filters that exclude each other', { accountId: 'acct_2', apiKeyId: 'key_2' }, []],
    ])('a list can be filtered by %s', async (_, filter, ids) => {
      const { idsOf } = await kept(requests)

      expect(await idsOf(filter)).toEqual(ids)
    })

    test('accounts and keys whose ids end alike are told apart', async () => {
      const { idsOf } = await kept([
        aRecordedRequest({ id: 'a', accountId: 'acct_1_same-end', apiKeyId: 'key_1_same-end' }),
        aRecordedRequest({ id: 'b', accountId: 'acct_2_same-end', apiKeyId: 'key_2_same-end' }),
      ])

      expect(await idsOf({ accountId: 'acct_1_same-end' })).toEqual(['a'])
      expect(await idsOf({ apiKeyId: 'key_2_same-end' })).toEqual(['b'])
    })

    test.each(['', 'r1', 'cost1r1', 'newest99999999999999999999r1', 'newest1', "newest1r1'"])(
      'the text %j is refused as a cursor',
      async cursor => {
        const { store } = await kept(requests)

        const refused = store.list({ limit: 1, cursor }).catch((error: unknown) => error)

        expect(await refused).toMatchObject({ code: 'invalid_field', extras: { param: 'cursor' } })
      },
    )
  })

  describe('a report', () => {
    const HOUR_MS = 3_600_000
    const between = { fromMs: NOW_MS - (NOW_MS % DAY_MS), toMs: NOW_MS - (NOW_MS % DAY_MS) + 2 * DAY_MS }
    const served = aRecordedRequest({
      model: 'gpt-x',
      durationMs: 100,
      firstByteMs: 10,
      attempts: [{ provider: 'first', reason: 'server' }, { provider: 'second' }],
      usage: { ...NO_USAGE, input: 7, cachedInput: 5, output: 3 },
    })
    const refused = aRecordedRequest({
      model: 'gpt-y',
      status: 429,
      errorCode: 'rate_limit',
      accountId: 'acct_2',
      atMs: NOW_MS + HOUR_MS,
      durationMs: 1,
      attempts: [],
    })
    const NEXT_DAY = aRecordedRequest({ atMs: NOW_MS + DAY_MS, durationMs: 1000 })

    async function reported(by: ReportGroup) {
      const store = await open()
      await write(store, [served, served, refused])
      await store.write({
        requests: [NEXT_DAY],
        alikeRefusals: new Map(),
        onlyCounted: [{ request: refused, count: 4 }],
        nowMs: NOW_MS,
      })
      const report = await store.report({ by, between })
      return Object.fromEntries(
        Array.from(report, ([name, { requests, errors }]) => [name, [requests, errors]]),
      )
    }

    test.each<[ReportGroup, Record<string, number[]>]>([
      ['day', { '2027-01-15': [7, 5], '2027-01-16': [1, 0] }],
      [
        'hour',
        {
          '2027-01-15T08:00:00.000Z': [2, 0],
          '2027-01-15T09:00:00.000Z': [5, 5],
          '2027-01-16T08:00:00.000Z': [1, 0],
        },
      ],
      ['status', { 200: [3, 0], 429: [5, 5] }],
      ['model', { 'gpt-x': [2, 0], 'gpt-y': [5, 5] }],
      ['provider', { first: [3, 2], second: [2, 0] }],
      ['account', { acct_1: [3, 0], acct_2: [5, 5] }],
    ])(
      'a report by %s has the requests and errors of its groups, also those that are only counted',
      async (by, sums) => {
        expect(await reported(by)).toEqual(sums)
      },
    )

    test('a report has the times of requests without an error, and their tokens by kind', async () => {
      const store = await open()
      await write(store, [served, refused])

      const report = await store.report({ by: 'day', between })

      const { durations, firstBytes, tokens } = report.get('2027-01-15')!
      expect(percentileMs(durations, 0.99)).toBeCloseTo(100, -1)
      expect(percentileMs(firstBytes, 0.99)).toBeCloseTo(10, 0)
      expect(Object.fromEntries(tokens)).toEqual({ input: 7, cached_input: 5, output: 3 })
    })

    test('a report does not have requests before or after its time', async () => {
      const store = await open()
      await write(store, [served, NEXT_DAY])

      const report = await store.report({
        by: 'model',
        between: { ...between, toMs: between.fromMs + DAY_MS },
      })

      expect([...report.keys()]).toEqual(['gpt-x'])
    })

    test('a report has the requests whose records are deleted, for 92 days', async () => {
      const store = await open()
      await write(store, [served])

      await sweepAll(store, NOW_MS + DAY_MS)
      await sweepAll(store, NOW_MS + 92 * DAY_MS)
      const kept = await store.report({ by: 'model', between })
      await sweepAll(store, NOW_MS + 94 * DAY_MS)

      expect(await store.find(served.id)).toBeUndefined()
      expect(kept.get('gpt-x')?.requests).toBe(1)
      expect((await store.report({ by: 'model', between })).size).toBe(0)
    })
  })

  describe('old records', () => {
    test('sweeps delete the records that are too old', async () => {
      const store = await open()
      await write(store, [aRecordedRequest({ id: 'old' })])
      await sweepAll(store, NOW_MS + DAY_MS)
      await write(store, [aRecordedRequest({ id: 'new', atMs: NOW_MS + DAY_MS })])

      await sweepAll(store, NOW_MS + 7 * DAY_MS - 1)
      const before = await idsIn(store)
      await sweepAll(store, NOW_MS + 8 * DAY_MS)

      expect(before).toEqual(['new', 'old'])
      expect(await idsIn(store)).toEqual(['new'])
    })

    test('the oldest records are deleted when there are too many', async () => {
      const store = await open({ rowsMax: 100 })
      for (let batch = 0; batch < 10; batch += 1)
        await write(
          store,
          Array.from({ length: 50 }, (_, index) =>
            aRecordedRequest({ id: `${batch * 50 + index}`, atMs: NOW_MS + batch }),
          ),
        )

      await sweepAll(store, NOW_MS)

      expect((await idsIn(store)).map(Number).sort((a, b) => a - b)).toEqual(
        Array.from({ length: 100 }, (_, index) => 400 + index),
      )
    })
  })

  test('a closed store writes nothing, and says so', async () => {
    const store = await open()

    await store.close()
    await store.close()

    expect(await write(store, [whole])).toEqual({ problem: 'The records are closed.' })
  })
}

async function idsIn(store: RequestRecordStore): Promise<readonly string[]> {
  const { requests } = await store.list({ limit: 500 })
  return requests.map(({ id }) => id)
}

async function sweepAll(store: RequestRecordStore, nowMs: number): Promise<void> {
  while (await store.sweep(nowMs));
}

function write(store: RequestRecordStore, requests: readonly RecordedRequest[]) {
  return store.write({ requests, alikeRefusals: new Map(), nowMs: NOW_MS })
}
