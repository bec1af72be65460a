import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { Ask } from '../../../src/cli/ask.ts'
import { statement } from '../../../src/cli/commands/accounts/money.ts'
import {
  listUsage,
  listUsageGroups,
  usageCsv,
  usageGroupsCsv,
} from '../../../src/cli/commands/reports/usage.ts'
import type { Outcome } from '../../../src/cli/outcome.ts'
import { chatAnswer, sse } from '../../support/upstream-replies.ts'
import type { TestAccount, TestGateway } from '../../support/gateway.ts'
import { RUNNING } from '../../support/scripted-media.ts'
import { images, startScriptedImages, STEP_MS } from '../gateways/image-gateway.ts'
import { startNativeGateway } from '../gateways/native-gateway.ts'
import { startVideoGateway } from '../gateways/video-gateway.ts'
import { rejection } from '../../support/rejection.ts'
import { refusalOf } from '../keys/refusal-of.ts'
import {
  chatModel,
  expectNothingHeld,
  startScriptedGateway,
  type ScriptedGateway,
} from '../gateways/scripted-gateway.ts'
import { DONE, FINISH, HEL, ROLE, usage } from '../../support/stream-frames.ts'
import { routeModels, routeProviders, textRouteCases } from '../text/text-routes.ts'
import { until } from '../../support/until.ts'

const READ_MS = 300_000
const TAGS = { 'x-service-tags': 'Team=Red, feature=search' }
const KEPT = { feature: 'search', team: 'Red' }

let gateway: ScriptedGateway
let ada: TestAccount

beforeAll(async () => {
  gateway = await startScriptedGateway({
    models: [...routeModels, chatModel('live', { messages_stream: 'live' })],
    providers: () => routeProviders,
    environment: { TOLLGATE_REPLAY_TTL_S: '60', TOLLGATE_RECONCILE_EVERY_S: '86400' },
  })
})
afterAll(() => gateway.stop())
afterEach(async () => {
  gateway.upstream.reply(chatAnswer())
  await expectNothingHeld(gateway, ada)
})

const HI = [{ role: 'user', content: 'Hi' }]

type Row = {
  readonly id: string
  readonly tags?: Readonly<Record<string, string>>
  readonly user?: string
  readonly cost_usd: string
}

async function send(path: string, body: object, headers: Readonly<Record<string, string>> = TAGS) {
  return fetch(gateway.url + path, {
    method: 'POST',
    headers: { 'x-api-key': ada.key, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
}

/** The charges of the account, newest first. */
async function charges(): Promise<readonly Row[]> {
  return (await gateway.read<{ data: Row[] }>(ada.key, '/v1/usage')).data
}

/** What `charges` shows of the tags of its rows. */
const shown = (rows: readonly Row[]) => rows.map(({ tags, user }) => ({ tags, user }))

describe('the charge of a request has its tags and its user', () => {
  const metadata = { user_id: 'ada-17' }

  test.each([...textRouteCases])('the charge of a request has its tags and its user: $title', async route => {
    ada = await gateway.account({ grant: '10' })
    const named = route.isMessages === true ? { metadata } : { user: 'ada-17', metadata: { user_id: 'no' } }
    gateway.upstream.reply(route.answer({ input: 10, output: 5 }))

    const response = await send(route.path, { model: route.model, ...route.request, ...named })
    await response.text()

    expect(response.status).toBe(200)
    expect(shown(await charges())).toEqual([{ tags: KEPT, user: 'ada-17' }])
  })

  test.each([
    ['a chat request', '/v1/chat/completions', { model: 'gpt-x', user: 'ada-17' }, false],
    ['a stream', '/v1/chat/completions', { model: 'gpt-x', user: 'ada-17', stream: true }, true],
    ['live messages', '/v1/messages', { model: 'live', metadata, max_tokens: 9, stream: true }, true],
  ])('the charge of a request has its tags and its user: %s', async (_, path, body, isStream) => {
    ada = await gateway.account({ grant: '10' })
    gateway.upstream.reply(isStream ? sse([ROLE, HEL, FINISH, usage(), DONE]) : chatAnswer())

    const response = await send(path, { messages: HI, ...body })
    await response.text()

    expect(shown(await charges())).toEqual([{ tags: KEPT, user: 'ada-17' }])
  })

  test.each([
    ['safety_identifier', { safety_identifier: 'hash-1', user: 'ada-17' }, 'hash-1'],
    ['user beside an empty safety_identifier', { safety_identifier: '', user: 'ada-17' }, 'ada-17'],
    ['a long id, of which the first 256 characters count', { user: 'x'.repeat(600) }, 'x'.repeat(256)],
    ['a user that is not a text, which the provider has to refuse', { user: 7 }, undefined],
  ])('the user of a chat request is: %s', async (_, body, user) => {
    ada = await gateway.account({ grant: '10' })
    const taken = gateway.upstream.hold()

    const sent = send('/v1/chat/completions', { model: 'gpt-x', messages: HI, ...body }, {})
    const exchange = await taken
    await chatAnswer()(exchange)
    await (await sent).text()

    expect(shown(await charges())).toEqual([{ tags: undefined, user }])
    expect(exchange.request.json()).toMatchObject(body)
  })

  test('a request without tags and user has a charge without them', async () => {
    ada = await gateway.account({ grant: '10' })

    await send('/v1/chat/completions', { model: 'gpt-x', messages: HI }, {})

    const [row] = await charges()
    expect(row).not.toHaveProperty('tags')
    expect(row).not.toHaveProperty('user')
  })

  test('the statement, the usage of the operator and a refund show the tags too', async () => {
    ada = await gateway.account({ grant: '10' })
    await send('/v1/chat/completions', { model: 'gpt-x', messages: HI, user: 'ada-17' })
    const [{ id } = { id: '' }] = await charges()
    await gateway.admin('POST', `charges/${id}/refund`, { note: 'Sorry' })

    const own = await gateway.read<{ data: Row[] }>(ada.key, '/v1/statement')
    const admin = await gateway.admin<{ data: Row[] }>('GET', `accounts/${ada.id}/statement`)
    const listed = await gateway.admin<{ data: Row[] }>('GET', `usage?account=${ada.id}`)

    const tagged = { tags: KEPT, user: 'ada-17' }
    const untagged = { tags: undefined, user: undefined }
    expect(shown(own.data)).toEqual([tagged, tagged, untagged])
    expect(shown(admin.data)).toEqual([tagged, tagged, untagged])
    expect(shown(listed.data)).toEqual([tagged, tagged])
  })

  test('a late answer, which is charged and given back, has the tags of its request', async () => {
    ada = await gateway.account({ grant: '10' })
    const taken = gateway.upstream.hold()
    const waiting = send('/v1/chat/completions', { model: 'gpt-x', messages: HI, user: 'late' })
    const exchange = await taken
    gateway.clock.advance(READ_MS)
    expect((await waiting).status).toBe(504)
    await chatAnswer()(exchange)
    await until('no late call is waited for', async () => (await gateway.metric('tollgate_late_calls')) === 0)
    await gateway.admin('POST', 'reconcile')

    expect(shown(await charges())).toEqual([{ tags: KEPT, user: 'late' }])
  })
})

describe('the charge of a native message has its tags and its user', () => {
  test.each([true, false])(
    'the charge of a native message has its tags and its user; streamed: %p',
    async stream => {
      const native = await startNativeGateway()
      const ben = await native.account()

      const response = await native.ask(ben, { stream, metadata: { user_id: 'ben-1' } }, { headers: TAGS })
      await response.text()

      expect(await native.charges(ben)).toMatchObject([{ tags: KEPT, user: 'ben-1' }])
      await native.stop()
    },
  )
})

describe('the charge of a job has the tags and the user of its request', () => {
  const tagged = { tags: KEPT, user: 'ben-1' }

  test('the charge of a job has the tags and the user of its request: images of a job that runs on', async () => {
    const drawing = await startScriptedImages()
    const ben = await drawing.account({ grant: '1' })
    drawing.media.polled = RUNNING
    const headers = { ...TAGS, 'idempotency-key': 'order-1' }
    const waiting = drawing.create(ben.key, { user: 'ben-1' }, { headers })
    await until('the job runs', async () => (await jobsOf(drawing)).length === 1)
    const running = await jobsOf(drawing)

    drawing.media.polled = images(['one'])
    await until('the job is done', async () => {
      drawing.clock.advance(STEP_MS)
      return (await jobsOf(drawing))[0]?.state === 'completed'
    })
    await (await waiting).text()
    // A repeat of the request has other tags and makes no other job.
    await drawing.create(ben.key, { user: 'ben-1' }, { headers: { ...headers, 'x-service-tags': 'team=x' } })

    expect(running).toMatchObject([tagged])
    expect(await usageOf(drawing, ben)).toMatchObject([tagged])
    await drawing.stop()
  })

  test('the charge of a job has the tags and the user of its request: a video', async () => {
    const filming = await startVideoGateway()
    const ben = await filming.account({ grant: '1' })
    const body = { model: 'family-a', prompt: 'Waves', duration: 5, user: 'ben-1' }

    const { id } = await filming.accepted(ben.key, body, { headers: TAGS })
    await until('the job is done', async () => (await filming.poll(ben.key, id)).status === 'completed')

    expect(await usageOf(filming, ben)).toMatchObject([tagged])
    await filming.stop()
  })
})

type Job = { readonly state: string }

async function jobsOf(gateway: TestGateway): Promise<readonly Job[]> {
  return (await gateway.admin<{ data: Job[] }>('GET', 'jobs')).data
}

async function usageOf(gateway: TestGateway, { id }: TestAccount): Promise<readonly Row[]> {
  return (await gateway.admin<{ data: Row[] }>('GET', `usage?account=${id}`)).data
}

describe('tags of requests that are not sent again', () => {
  test('identical requests with other tags share one answer, and the charge has the tags of the first', async () => {
    ada = await gateway.account({ grant: '10' })
    const body = { model: 'gpt-x', messages: [{ role: 'user', content: 'The same' }] }
    const first = await send('/v1/chat/completions', body)
    await first.text()

    const second = await send('/v1/chat/completions', body, { 'x-service-tags': 'team=blue' })

    expect(second.headers.get('x-service-replay')).toBe('true')
    expect(shown(await charges())).toEqual([{ tags: KEPT, user: undefined }])
  })
})

describe('the header of tags', () => {
  test('the header of tags is never passed on', async () => {
    ada = await gateway.account({ grant: '10' })
    const taken = gateway.upstream.hold()

    const sent = send('/v1/chat/completions', { model: 'gpt-x', messages: HI })
    const exchange = await taken
    await chatAnswer()(exchange)
    await (await sent).text()

    expect(exchange.request.head + exchange.request.text()).not.toContain('search')
  })

  test.each(['/v1/chat/completions', '/v1/messages', '/v1/images/generations', '/v1/videos'])(
    'a wrong header of tags is refused before anything is held or sent: %s',
    async path => {
      ada = await gateway.account({ grant: '10' })

      const refusal = await refusalOf(
        await send(path, { model: 'gpt-x' }, { 'x-service-tags': 'team=a,oops' }),
      )

      expect(refusal).toMatchObject({
        status: 400,
        param: 'x-service-tags',
        message: expect.stringContaining('"x-service-tags" has the tag "oops". Write a tag as name=value.'),
      })
      expect(await charges()).toEqual([])
    },
  )
})

describe('usage by tag and user', () => {
  type Sums = { readonly charges: number; readonly cost_usd: string; readonly refunded_usd: string }
  type Group = Sums & { readonly object: string; readonly value: string | null }
  type Grouped = { readonly data: readonly Group[]; readonly next: string | null; readonly totals: Sums }
  const FROM = 'from=2020-01-01T00:00:00Z&to=2020-02-01T00:00:00Z'
  const range = () => {
    const at = (ms: number) => new Date(gateway.clock.now() + ms).toISOString()
    return `from=${at(-86_400_000)}&to=${at(86_400_000)}`
  }
  const call = (tags: string | undefined, user?: string) =>
    send(
      '/v1/chat/completions',
      { model: 'gpt-x', messages: [{ role: 'user', content: crypto.randomUUID() }], ...(user && { user }) },
      tags === undefined ? {} : { 'x-service-tags': tags },
    ).then(response => response.text())
  const shownGroups = (data: readonly Group[]) =>
    data.map(({ value, charges, cost_usd: cost }) => [value, charges, cost])

  beforeAll(async () => {
    ada = await gateway.account({ grant: '10' })
    payer = ada
    gateway.upstream.reply(chatAnswer())
    await call('team=red', 'u1')
    await call('team=red,stage=x', 'u2')
    await call('team=blue', 'u1')
    await call(undefined)
    const [{ id } = { id: '' }] = await charges()
    await gateway.admin('POST', `charges/${id}/refund`, {})
  })
  /** Each charge costs ten input tokens at 2 USD and five output tokens at 10 USD per million. */
  let payer: TestAccount
  const read = (query: string) => gateway.read<Grouped>(payer.key, `/v1/usage?${range()}&${query}`)
  const readAdmin = (query: string) =>
    gateway.admin<Grouped>('GET', `usage?account=${payer.id}&${range()}&${query}`)

  test.each([
    [
      'group_by=tag:team',
      [
        ['blue', 1, '0.00007'],
        ['red', 2, '0.00014'],
        [null, 1, '0'],
      ],
      [4, '0.00021'],
    ],
    ['group_by=tag:TEAM&tag=stage=x', [['red', 1, '0.00007']], [1, '0.00007']],
    [
      'group_by=user',
      [
        ['u1', 2, '0.00014'],
        ['u2', 1, '0.00007'],
        [null, 1, '0'],
      ],
      [4, '0.00021'],
    ],
    ['group_by=user&tag=team=red&tag=stage=x', [['u2', 1, '0.00007']], [1, '0.00007']],
    [
      'group_by=tag:team&user=u1',
      [
        ['blue', 1, '0.00007'],
        ['red', 1, '0.00007'],
      ],
      [2, '0.00014'],
    ],
    ['group_by=tag:team&user=nobody', [], [0, '0']],
  ])(
    'usage by tag and user has the sums of each group, and of all: %s',
    async (query, groups, [charges, cost]) => {
      const own = await read(query)
      const admin = await readAdmin(query)

      expect(shownGroups(own.data)).toEqual(groups)
      expect(own.totals).toMatchObject({ charges, cost_usd: cost })
      // With what only the operator sees.
      expect({ ...admin, object: 'list' }).toMatchObject({ ...own, object: 'list' })
    },
  )

  test('usage by tag and user comes in pages', async () => {
    const first = await read('group_by=tag:team&limit=1')
    const second = await read(`group_by=tag:team&limit=1&cursor=${first.next}`)
    const third = await read(`group_by=tag:team&limit=1&cursor=${second.next}`)

    expect([first, second, third].map(({ data }) => data[0]?.value)).toEqual(['blue', 'red', null])
    expect(third.next).toBeNull()
    expect(first.totals).toEqual(third.totals)
  })

  test('a list of usage has only the requests of a tag or a user, and their totals', async () => {
    const own = await gateway.read<{ data: Row[]; totals: Sums }>(
      payer.key,
      `/v1/usage?${range()}&tag=team=red`,
    )
    const admin = await gateway.admin<{ data: Row[] }>('GET', `usage?account=${payer.id}&${range()}&user=u1`)

    expect(own.data.map(({ user }) => user)).toEqual(['u2', 'u1'])
    expect(own.totals).toMatchObject({ charges: 2, cost_usd: '0.00014' })
    expect(admin.data.map(({ tags }) => tags)).toEqual([{ team: 'blue' }, { team: 'red' }])
  })

  test.each([
    ['group_by=tag:team', 'from', '"from" is missing; "group_by" needs the time at which the range begins.'],
    ['user=u1', 'from', '"from" is missing; "user" needs'],
    [`${FROM}&group_by=team`, 'group_by', 'must be "user", or "tag:" and the name of a tag'],
    [`${FROM}&tag=red`, 'tag', '"tag" has the tag "red". Write a tag as name=value.'],
    [`${FROM}&tag=`, 'tag', 'must be a name and a value, such as "team=red"'],
    [`${FROM}&user=`, 'user', 'must be the id of a user'],
    [`${FROM}&group_by=user&cursor=r5`, 'cursor', 'must be the "next" of an earlier page'],
  ])('a wrong parameter of usage by tag and user is refused: %s', async (query, param, message) => {
    const headers = { 'x-api-key': payer.key }

    const refusal = await refusalOf(await fetch(`${gateway.url}/v1/usage?${query}`, { headers }))

    expect(refusal).toMatchObject({ status: 400, param, message: expect.stringContaining(message) })
  })

  describe('the command', () => {
    const ask: Ask = ({ method, path }) => gateway.admin(method, path) as never
    const filters = () => {
      const [from, to] = range()
        .split('&')
        .map(pair => pair.slice(pair.indexOf('=') + 1)) as [string, string]
      return { account: payer.id, from, to }
    }
    const chunksOf = async ({ chunks }: Outcome) =>
      (await Array.fromAsync(chunks ?? [])).join('').split('\r\n')

    test('the command usage --by prints the sums of each group, and how to get the next page', async () => {
      const whole = await listUsageGroups(ask, { ...filters(), group_by: 'tag:team', limit: '50' })
      const part = await listUsageGroups(ask, { ...filters(), group_by: 'tag:team', limit: '1' })

      expect(whole.text.split('\n').map(line => line.split(/ {2,}/))).toEqual([
        [
          'TAG:TEAM',
          'CHARGES',
          'TOKENS',
          'IMAGES',
          'SECONDS',
          'USD',
          'PROVIDER USD',
          'MARGIN USD',
          'NO COST',
        ],
        ['blue', '1', '10 + 5', '0', '0', '0.00007', '0', '0.00007', '1'],
        ['red', '2', '20 + 10', '0', '0', '0.00014', '0', '0.00014', '2'],
        ['–', '1', '10 + 5', '0', '0', '0', '0', '0', '1'],
        [''],
        ['Charges: 4. Cost: 0.00021 USD, net of refunds of 0.00007 USD.'],
        ['Provider cost: 0 USD. Margin: 0.00021 USD.'],
        [expect.stringContaining('The cost of 4 of 4 charges is not known, so the margin is lower.')],
      ])
      expect(part.note).toStartWith('More groups: --cursor g')
    })

    test('the command usage --by --csv prints all groups', async () => {
      const csv = await chunksOf(await usageGroupsCsv(ask, { ...filters(), group_by: 'user' }))

      expect(csv).toEqual([
        'user,charges,input_tokens,output_tokens,images,seconds,cost_usd,refunded_usd,' +
          'compensated_usd,provider_cost_usd,margin_usd,charges_without_cost',
        'u1,2,20,10,0,0,0.00014,0,0,0,0.00014,2',
        'u2,1,10,5,0,0,0.00007,0,0,0,0.00007,1',
        ',1,10,5,0,0,0,0.00007,0,0,0,1',
        '',
      ])
    })

    test('the commands usage and statement show tags and users', async () => {
      const listed = await listUsage(ask, { ...filters(), tag: 'team=red', limit: '50' })
      const csv = await chunksOf(await usageCsv(ask, { ...filters(), tag: 'team=red' }))
      const moved = await statement(ask, { account: payer.id, limit: '50' })

      expect(listed.text).toMatch(/ TAGS +USER\n.* stage=x,team=red +u2\n.* team=red +u1\n/)
      expect(csv[0]).toEndWith(',refund_of,tags,user,project')
      expect(csv[1]).toEndWith(',,"stage=x,team=red",u2,')
      expect(moved.text).toMatch(/ charge .* stage=x,team=red +u2\n/)
    })

    test('a text of a client or a name of an account is never a formula in a spreadsheet', async () => {
      const saved = ada
      ada = await gateway.account({ grant: '1' })
      await call('-x=1', '=cmd|calc')
      const account = ada.id
      ada = saved
      await gateway.admin('PATCH', `accounts/${account}`, { name: '@sum(a)' })

      const rows = await chunksOf(await usageCsv(ask, { account }))
      const groups = await chunksOf(await usageGroupsCsv(ask, { ...filters(), account, group_by: 'user' }))

      expect(rows[1]).toContain(",'@sum(a),")
      expect(rows[1]).toEndWith(",'-x=1,'=cmd|calc,")
      expect(groups[1]).toStartWith("'=cmd|calc,1,")
    })
  })

  test('the operator groups the usage of one account, because each customer has its own tags', async () => {
    const error = await rejection(gateway.admin('GET', `usage?${FROM}&group_by=user`))

    expect(String(error)).toContain('"account\\" is missing')
  })
})
