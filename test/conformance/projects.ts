import { describe, expect, test } from 'bun:test'
import { NO_LIMITS } from '../../src/domain/limits/limits-row.ts'
import { usd, ZERO, type NanoUsd } from '../../src/domain/money.ts'
import type { ApiKey } from '../../src/domain/accounts/api-key.ts'
import type { HoldOutcome } from '../../src/gateway/ports/ledger/ledger.ts'
import type { UsageGrain } from '../../src/gateway/ports/access/projects.ts'
import { aKeyIn, aProject, at, base64, make } from '../support/account-builders.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { aJob } from '../support/job-builders.ts'
import { aBill, aCharge, aHold, anAccount, anAttempt, anAudit, NOW } from '../support/ledger-builders.ts'
import { rejection } from '../support/rejection.ts'
import type { StoreKind, TestStore } from '../support/test-store.ts'

/** An account with 1000 USD, with two keys in the project "web" and one without a project. */
async function openWithProject(kind: StoreKind) {
  const clock = fakeClock(NOW)
  const opened = await kind.open({ clock })
  const { store } = opened
  const { accountId, apiKeyId } = await anAccount(store, { funds: usd('1000') })
  const project = await aProject(store, { accountId, name: 'web' })
  const [first, second] = [await aKeyIn(store, project), await aKeyIn(store, project)]
  const request = (
    apiKey: Pick<ApiKey, 'id'>,
    { amount = usd('1'), on = store }: { amount?: NanoUsd; on?: TestStore } = {},
  ) => {
    const demand = { apiKeyId: apiKey.id, model: 'gpt-x', tokens: 0, amount }
    return on.ledger.placeHold(aHold({ accountId, kind: 'text', amount, demand }))
  }
  /** Charges a dollar to a key. */
  const spend = async (apiKey: Pick<ApiKey, 'id'>, on: TestStore = store) => {
    const outcome = await request(apiKey, { on })
    if (outcome.outcome !== 'held') throw new Error(`The hold was ${outcome.outcome}.`)
    await on.ledger.captureHold(outcome.hold, aCharge(apiKey.id, { atMs: clock.now() }))
  }
  return {
    ...opened,
    clock,
    accountId,
    project,
    owner: { accountId, apiKeyId: undefined, projectId: project.id },
    keys: { first, second, outside: { id: apiKeyId } },
    request,
    spend,
    change: (limits: object) => store.projects.update(project.publicId, { limits }, at(NOW)),
  }
}

/** `held`, `refused`, or the limit and the kind of scope that refused. */
function nameOf(outcome: HoldOutcome): string {
  if (outcome.outcome !== 'limited') return outcome.outcome
  return `${outcome.refusal.limit} of the ${outcome.refusal.scope.kind}`
}

/** What the projects of any store must do. */
export function projectsConform(kind: StoreKind): void {
  describe('projects', () => {
    test('a project is found by its id and listed with its account, also after a restart', async () => {
      const { store, reopen } = await kind.open()
      const account = await make(store.accounts, 'ada')
      const other = await make(store.accounts, 'ben')

      const project = await aProject(store, { accountId: account.id, name: 'web' })
      const reopened = await reopen()

      expect(project).toMatchObject({ accountId: account.id, name: 'web', closedAtMs: null })
      expect(await reopened.projects.find(project.publicId)).toEqual(project)
      expect(await reopened.projects.list(account.id)).toEqual([project])
      expect(await reopened.projects.list(other.id)).toEqual([])
      expect(await reopened.projects.find('proj_none')).toBeUndefined()
    })

    test('a name is unique in its account, and free in others', async () => {
      const { store } = await kind.open()
      const account = await make(store.accounts, 'ada')
      const other = await make(store.accounts, 'ben')
      await aProject(store, { accountId: account.id, name: 'web' })
      const batch = await aProject(store, { accountId: account.id, name: 'batch' })

      const errors = [
        await rejection(aProject(store, { accountId: account.id, name: 'web' })),
        await rejection(store.projects.update(batch.publicId, { name: 'web' }, at(NOW))),
      ]

      expect(errors).toMatchObject([{ code: 'already_exists' }, { code: 'already_exists' }])
      expect((await aProject(store, { accountId: other.id, name: 'web' })).name).toBe('web')
      expect((await store.projects.list(account.id)).map(({ name }) => name)).toEqual(['web', 'batch'])
    })

    test('a patch renames and closes a project once, with an audit line for each', async () => {
      const { store } = await kind.open()
      const account = await make(store.accounts, 'ada')
      const project = await aProject(store, { accountId: account.id, name: 'web' })
      const patch = { name: 'site', closed: true } as const

      const changed = await store.projects.update(project.publicId, patch, at(NOW + 1))
      const again = await store.projects.update(project.publicId, patch, at(NOW + 2))
      const none = await rejection(store.projects.update('proj_none', patch, at(NOW)))

      expect(changed).toEqual({ ...project, name: 'site', closedAtMs: NOW + 1 })
      expect(again).toEqual(changed)
      expect(none).toBeInstanceOf(RangeError)
      expect((await store.auditLog.list({ limit: 3 })).toReversed()).toMatchObject([
        { action: 'project.create', subject: project.publicId, detail: '{"name":"web"}' },
        { action: 'project.rename', subject: project.publicId, detail: '{"name":"site"}', atMs: NOW + 1 },
        { action: 'project.close', subject: project.publicId, atMs: NOW + 1 },
      ])
    })

    test('a key is authenticated with its project, as it is now', async () => {
      const { store, reopen } = await kind.open()
      const account = await make(store.accounts, 'ada')
      const project = await aProject(store, { accountId: account.id, name: 'web' })
      const hash = new Uint8Array(32).fill(7)
      const request = {
        publicId: 'key_1',
        accountId: account.id,
        name: 'default',
        hash,
        prefix: 'tg_live_abcd',
      }
      const apiKey = await store.apiKeys.create({ ...request, projectId: project.id, audit: anAudit() })

      const before = await store.apiKeys.authenticate(base64(hash))
      const closed = await store.projects.update(project.publicId, { closed: true }, at(NOW + 1))

      expect(before).toEqual({ account, apiKey, project })
      expect(await store.apiKeys.authenticate(base64(hash))).toEqual({ account, apiKey, project: closed })
      expect(await (await reopen()).apiKeys.authenticate(base64(hash))).toMatchObject({ project: closed })
    })

    test('a key is created only in an open project of its account', async () => {
      const { store } = await kind.open()
      const account = await make(store.accounts, 'ada')
      const other = await make(store.accounts, 'ben')
      const closed = await aProject(store, { accountId: account.id, name: 'old' })
      await store.projects.update(closed.publicId, { closed: true }, at(NOW))
      const foreign = await aProject(store, { accountId: other.id, name: 'web' })

      const errors = [
        await rejection(aKeyIn(store, closed)),
        await rejection(aKeyIn(store, { ...foreign, accountId: account.id })),
        await rejection(aKeyIn(store, { ...closed, id: 99 })),
      ]

      const refusal = { code: 'invalid_field', extras: { param: 'project' } }
      expect(errors).toMatchObject([refusal, refusal, refusal])
      expect(await store.apiKeys.list(account.id)).toEqual([])
    })
  })

  describe('limits of a project', () => {
    test('limits of a project are kept, and each is changed alone', async () => {
      const { store, reopen, project, owner, change } = await openWithProject(kind)
      const { accountId } = owner
      const limits = { limits: { requests_per_minute: 5 } }
      const other = await aProject(store, { accountId, name: 'batch', limits })

      await change({ limits: { concurrent_requests: 2 }, budgets: { day: usd('5') } })
      await change({ limits: { concurrent_requests: null, requests_per_minute: 60 } })
      const again = await reopen()

      const terms = { limits: { requests_per_minute: 60 }, budgets: { day: usd('5') } }
      expect(await again.limits.of(owner)).toEqual({ ...terms, perModel: {} })
      expect(await again.limits.of({ ...owner, projectId: other.id })).toEqual({ ...NO_LIMITS, ...limits })
      expect(await again.limits.of({ accountId, apiKeyId: undefined })).toEqual(NO_LIMITS)
      expect((await again.auditLog.list({ limit: 1 }))[0]).toMatchObject({
        action: 'project.limits',
        subject: project.publicId,
        detail: '{"limits":{"concurrent_requests":null,"requests_per_minute":60}}',
      })
    })

    test('limits of a project are shared by its keys, and by no other key', async () => {
      const { store, request, change, keys, project } = await openWithProject(kind)
      await change({ limits: { requests_per_minute: 2 } })

      const outcomes = [await request(keys.first), await request(keys.second), await request(keys.first)]
      const late = await aKeyIn(store, project)

      expect(outcomes.map(nameOf)).toEqual(['held', 'held', 'requests_per_minute of the project'])
      expect(nameOf(await request(late))).toBe('requests_per_minute of the project')
      expect(nameOf(await request(keys.outside))).toBe('held')
    })

    test('limits of a project are asked after those of the account, and before those of a model and the key', async () => {
      const { store, request, change, keys, accountId, project } = await openWithProject(kind)
      const account = await store.accounts.findAccountById(accountId)
      const limits = { budgets: { day: ZERO } }
      const accountLimits = (changed: object) =>
        store.accounts.updateAccount(account!.publicId, { limits: changed }, at(NOW))
      const refusals: string[] = []

      await store.apiKeys.update(keys.first.publicId, { limits }, at(NOW))
      refusals.push(nameOf(await request(keys.first)))
      await accountLimits({ perModel: { 'gpt-x': limits } })
      refusals.push(nameOf(await request(keys.first)))
      await change(limits)
      refusals.push(nameOf(await request(keys.first)))
      await accountLimits(limits)
      refusals.push(nameOf(await request(keys.first)))

      const kinds = ['key', 'account_model', 'project', 'account']
      expect(refusals).toEqual(kinds.map(name => `budget of the ${name}`))
      expect(project.name).toBe('web')
    })

    test('limits of open requests include the jobs of the keys of a project, also after a restart', async () => {
      const { store, reopen, request, change, keys, accountId, owner } = await openWithProject(kind)
      await change({ limits: { concurrent_requests: 1 }, budgets: { day: usd('4') } })
      const job = aJob({ accountId, apiKeyId: keys.first.id })

      const created = await store.jobs.create({ ...job, held: usd('3') })
      const full = nameOf(await request(keys.second))
      const again = await reopen()
      const fullAgain = nameOf(await request(keys.second, { on: again }))
      const [budget] = await again.limits.budgets(owner)
      if (created.outcome === 'created')
        await again.jobs.fail(created.job.id, { reason: 'rejected', message: 'No.', atMs: NOW })

      const refused = 'concurrent_requests of the project'
      expect([created.outcome, full, fullAgain]).toEqual(['created', refused, refused])
      expect(budget).toMatchObject({ reserved: usd('3'), spent: ZERO })
      expect(nameOf(await request(keys.second, { amount: usd('4'), on: again }))).toBe('held')
    })
  })

  describe('a budget of a project', () => {
    test('a budget of a project counts what its keys spent before it was made, and what is open', async () => {
      const { store, request, spend, change, keys, owner } = await openWithProject(kind)
      await spend(keys.first)
      await spend(keys.second)
      await spend(keys.outside)
      await request(keys.second, { amount: usd('3') })
      await request(keys.outside, { amount: usd('5') })

      await change({ budgets: { month: usd('20'), total: usd('10') } })

      const counted = { spent: usd('2'), reserved: usd('3') }
      expect(await store.limits.budgets(owner)).toMatchObject([
        { period: 'month', ...counted, remaining: usd('15') },
        { period: 'total', ...counted, remaining: usd('5') },
      ])
    })

    test('a budget of a project for 10 admits exactly 10 of 200 requests that race with two keys on two nodes', async () => {
      const { store, other, request, change, keys } = await openWithProject(kind)
      await change({ budgets: { day: usd('10') } })

      const outcomes = await Promise.all(
        Array.from({ length: 200 }, (_, index) =>
          request(index % 3 === 0 ? keys.first : keys.second, { on: index % 2 === 0 ? store : other }),
        ),
      )

      expect(outcomes.filter(({ outcome }) => outcome === 'held')).toHaveLength(10)
    })

    test('a budget of a project keeps its sum over a restart, and starts anew with its period', async () => {
      const { reopen, request, spend, change, keys, clock } = await openWithProject(kind)
      await change({ budgets: { day: usd('2') } })
      await spend(keys.first)
      await spend(keys.second)

      const again = await reopen()
      const onTheDay = nameOf(await request(keys.first, { on: again }))
      clock.advance(86_400_000)

      expect(onTheDay).toBe('budget of the project')
      expect(nameOf(await request(keys.first, { on: again }))).toBe('held')
    })
  })

  describe('the usage of a project', () => {
    const DAY_MS = 86_400_000
    const today = Math.floor(NOW / DAY_MS)
    const days = { firstDay: today - 1, lastDay: today + 1 }

    test('the usage of a project has the charges of its keys by day, model and key, and of no other', async () => {
      const { store, reopen, spend, keys, clock, project, accountId } = await openWithProject(kind)
      await spend(keys.first)
      await spend(keys.second)
      await spend(keys.outside)
      clock.advance(DAY_MS)
      await spend(keys.second)
      const other = await aProject(store, { accountId, name: 'batch' })
      await spend(await aKeyIn(store, other))

      const { projects } = await reopen()
      const costs = async (by: UsageGrain) =>
        (await projects.usage(project, { by, ...days })).map(({ group, charges, cost }) => [
          group,
          charges,
          cost,
        ])

      expect(await costs('day')).toEqual([
        [today, 2, usd('2')],
        [today + 1, 1, usd('1')],
      ])
      expect(await costs('model')).toEqual([['gpt-x', 3, usd('3')]])
      expect(await costs('key')).toEqual([
        [keys.first.publicId, 1, usd('1')],
        [keys.second.publicId, 2, usd('2')],
      ])
      const firstDay = { by: 'key', firstDay: today, lastDay: today } as const
      expect((await projects.usage(project, firstDay)).map(({ cost }) => cost)).toEqual([usd('1'), usd('1')])
      expect(await projects.usage(project, { by: 'day', firstDay: 0, lastDay: 9 })).toEqual([])
    })

    test('the usage of a project has what was credited back and what providers bill', async () => {
      const { store, spend, keys, project, accountId } = await openWithProject(kind)
      await spend(keys.first)
      const attempt = anAttempt({ accountId, apiKeyId: keys.first.id })
      await store.attempts.record(attempt)
      await store.attempts.bill(attempt, { ...aBill({ tokens: 3 }), providerCost: usd('0.7') })
      await store.ledger.compensate(attempt, NOW)

      const usage = await store.projects.usage(project, { by: 'day', ...days })

      expect(usage).toMatchObject([
        {
          charges: 2,
          cost: usd('4'),
          compensated: usd('3'),
          providerCost: usd('0.7'),
          chargesWithoutCost: 1,
        },
      ])
    })
  })
}
