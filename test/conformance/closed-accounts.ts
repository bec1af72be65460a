import { describe, expect, test } from 'bun:test'
import { usd } from '../../src/domain/money.ts'
import { aProject, at, base64, make, makeKey, makeWithKey } from '../support/account-builders.ts'
import { aJob, moveTo, record } from '../support/job-builders.ts'
import { aCharge, anAccount, anAudit, anId, aHold, hold, NOW } from '../support/ledger-builders.ts'
import { rejection } from '../support/rejection.ts'
import type { StoreKind, TestStore } from '../support/test-store.ts'

const close = ({ accounts }: Pick<TestStore, 'accounts'>, publicId: string, atMs = NOW + 1) =>
  accounts.closeAccount(publicId, at(atMs))

function credit({ ledger }: Pick<TestStore, 'ledger'>, accountId: number, idempotencyKey = 'first') {
  const terms = { id: anId(), accountId, amount: usd('5'), source: 'cash', idempotencyKey } as const
  return ledger.credit({ ...terms, audit: anAudit() })
}

/** What renaming and closing an account must do in any store. */
export function closedAccountsConform(kind: StoreKind): void {
  describe('renamed accounts', () => {
    test('a renamed account is found by its new name, and its old name is free', async () => {
      const { store, reopen } = await kind.open()
      const { account, apiKey, hash } = await makeWithKey(store)
      await store.apiKeys.authenticate(hash)

      const renamed = await store.accounts.updateAccount(account.publicId, { name: 'eve' }, at(NOW + 1))
      const again = await store.accounts.updateAccount(account.publicId, { name: 'eve' }, at(NOW + 2))
      const other = await make(store.accounts, 'ada')
      const known = await store.apiKeys.authenticate(hash)
      const { accounts, auditLog } = await reopen()

      expect(renamed).toEqual({ ...account, name: 'eve' })
      expect(again).toEqual(renamed)
      expect(known).toEqual({ account: renamed, apiKey })
      expect(await accounts.findAccount('eve')).toEqual(renamed)
      expect(await accounts.findAccount('ada')).toEqual(other)
      const lines = (await auditLog.list({ limit: 9 })).filter(({ action }) => action === 'account.rename')
      expect(lines).toMatchObject([{ subject: account.publicId, detail: '{"name":"eve","was":"ada"}' }])
    })

    test('an account that gets its first name again, and books with renames, are sound', async () => {
      const { store } = await kind.open()
      const { publicId } = await make(store.accounts, 'ada')
      for (const name of ['eve', 'ada', 'eve'])
        await store.accounts.updateAccount(publicId, { name }, at(NOW))

      expect(await store.ledger.verify()).toMatchObject({ problems: [] })
    })

    test('a name of another account is refused, and the rest of the patch is not done', async () => {
      const { store } = await kind.open()
      const account = await make(store.accounts, 'ada')
      await make(store.accounts, 'eve')

      const patch = { name: 'eve', replays: false }
      const error = await rejection(store.accounts.updateAccount(account.publicId, patch, at(NOW)))

      expect(error).toMatchObject({ code: 'already_exists', extras: { param: 'name' } })
      expect(await store.accounts.findAccount('ada')).toEqual(account)
    })

    test('of two accounts that get one name at once on two nodes, one gets it', async () => {
      const { store, other } = await kind.open()
      const [first, second] = [await make(store.accounts, 'ada'), await make(store.accounts, 'ben')]

      const outcomes = await Promise.allSettled([
        store.accounts.updateAccount(first.publicId, { name: 'eve' }, at(NOW)),
        other.accounts.updateAccount(second.publicId, { name: 'eve' }, at(NOW)),
      ])

      expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    })
  })

  describe('closed accounts', () => {
    test('an empty account is closed once, and its keys say so at once and after a restart', async () => {
      const { store, reopen } = await kind.open()
      const { account, apiKey, hash } = await makeWithKey(store)
      await store.apiKeys.authenticate(hash)

      const closed = await close(store, account.publicId)
      const again = await close(store, account.publicId, NOW + 2)
      const here = await store.apiKeys.authenticate(hash)
      const reopened = await reopen()

      expect(closed).toEqual({ ...account, closedAtMs: NOW + 1 })
      expect(again).toEqual(closed)
      expect(here).toEqual({ account: closed, apiKey })
      expect(await reopened.apiKeys.authenticate(hash)).toEqual(here)
      expect(await reopened.ledger.verify()).toMatchObject({ problems: [] })
      const lines = (await reopened.auditLog.list({ limit: 9 })).filter(
        ({ action }) => action === 'account.close',
      )
      expect(lines).toHaveLength(1)
    })

    test('a closed account takes no credits, refunds, keys, rotations, projects, limits and holds, and keeps its statement', async () => {
      const { store, reopen } = await kind.open()
      const ada = await anAccount(store, { publicId: 'acct_ada', funds: usd('0') })
      const [key] = await store.apiKeys.list(ada.accountId)
      const project = await aProject(store, { accountId: ada.accountId })
      const limits = { limits: { requests_per_minute: 1 } }
      const first = await credit(store, ada.accountId)
      const spent = await hold(store.ledger, { accountId: ada.accountId, kind: 'text', amount: usd('5') })
      await store.ledger.captureHold(spent, aCharge(ada.apiKeyId, { tokens: 5 }))
      await close(store, 'acct_ada')

      for (const isRestarted of [false, true]) {
        const now = isRestarted ? await reopen() : store
        const { accountId } = ada
        const account = (await now.accounts.findAccount('acct_ada'))!
        const refund = { id: anId(), charge: spent.id, amount: usd('5'), audit: anAudit() }
        const rotation = { hash: new Uint8Array(32), prefix: 'tg_live_next', oldEndsAtMs: NOW }
        const refused = [
          await rejection(credit(now, accountId, 'second')),
          await rejection(now.ledger.refund(refund)),
          await rejection(makeKey(now, account, new Uint8Array(32).fill(3))),
          await rejection(now.apiKeys.rotate(key!.publicId, rotation, at(NOW))),
          await rejection(aProject(now, { accountId })),
          await rejection(now.projects.update(project.publicId, { limits }, at(NOW))),
          await rejection(now.apiKeys.update(key!.publicId, { limits }, at(NOW))),
          await rejection(now.accounts.updateAccount('acct_ada', { limits }, at(NOW))),
          await rejection(now.accounts.updateAccount('acct_ada', { keyDefaults: limits }, at(NOW))),
          await rejection(now.ledger.placeHold(aHold({ accountId, kind: 'text', amount: usd('0') }))),
          await rejection(now.ledger.placeHold(aHold({ accountId, kind: 'media', amount: usd('0') }))),
          await rejection(now.jobs.create(aJob(ada, { held: usd('0') }))),
        ]

        expect(refused.map(error => (error as { code?: string }).code)).toEqual([
          ...Array.from({ length: 9 }, () => 'already_closed'),
          ...Array.from({ length: 3 }, () => 'account_closed'),
        ])
        const messages = refused.slice(0, 9).map(error => (error as Error).message)
        expect(messages.map(message => / takes no (.*)\.$/.exec(message)?.[1])).toEqual([
          'credits',
          'refunds',
          'keys',
          'keys',
          'projects',
          'limits',
          'limits',
          'limits',
          'defaults for new keys',
        ])
        expect(await credit(now, accountId)).toEqual(first)
        expect(await now.ledger.statement(accountId, { limit: 9 })).toHaveLength(2)
      }
    })

    const unempty: readonly [string, (store: TestStore, account: number) => Promise<unknown>, object][] = [
      ['money', (store, id) => credit(store, id), { available_usd: '5', held_usd: '0' }],
      [
        'a debt',
        ({ ledger }, accountId) =>
          ledger.debit({ id: anId(), accountId, amount: usd('2'), allowNegative: true, audit: anAudit() }),
        { available_usd: '-2', held_usd: '0' },
      ],
      [
        'a running request that costs nothing',
        ({ ledger }, accountId) => ledger.placeHold(aHold({ accountId, kind: 'text', amount: usd('0') })),
        { held_usd: '0', open_requests: 1 },
      ],
      [
        'a media hold',
        async (store, accountId) => {
          await credit(store, accountId)
          return store.ledger.placeHold(aHold({ accountId, kind: 'media', amount: usd('5') }))
        },
        { available_usd: '0', held_usd: '5', open_jobs: 1 },
      ],
    ]
    test.each(unempty)('an account with %s is not closed, and the refusal names it', async (_, use, has) => {
      const { store } = await kind.open()
      const { publicId, id } = await make(store.accounts, 'ada')
      await use(store, id)

      const error = await rejection(close(store, publicId))

      expect(error).toMatchObject({ code: 'account_not_empty', extras: { extensions: has } })
      expect(await store.accounts.findAccount(publicId)).not.toHaveProperty('closedAtMs')
    })

    test('an account is closed after its job has ended and its money was taken', async () => {
      const { store } = await kind.open()
      const ada = await anAccount(store, { publicId: 'acct_ada', funds: usd('10') })
      const job = await record(store.jobs, aJob(ada))

      const during = await rejection(close(store, 'acct_ada'))
      await moveTo.failed(store.jobs, job.id)
      const { available: amount } = await store.ledger.balance(ada.accountId)
      await store.ledger.debit({
        id: anId(),
        accountId: ada.accountId,
        amount,
        allowNegative: false,
        audit: anAudit(),
      })

      expect(during).toMatchObject({ code: 'account_not_empty' })
      expect(await close(store, 'acct_ada')).toMatchObject({ closedAtMs: NOW + 1 })
    })

    test.each(['credit first', 'close first'])(
      'of a credit and a close at once, one is done: %s',
      async order => {
        const { store, other } = await kind.open()
        const { publicId, id } = await make(store.accounts, 'ada')
        const steps = [() => credit(other, id), () => close(store, publicId)]

        const asked = order === 'credit first' ? steps : steps.toReversed()
        const outcomes = await Promise.allSettled(asked.map(step => step()))

        expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
        expect(await store.ledger.verify()).toMatchObject({ problems: [] })
      },
    )

    test('an unknown account cannot be closed', async () => {
      const { store } = await kind.open()

      expect(await rejection(close(store, 'acct_none'))).toBeInstanceOf(RangeError)
    })

    test('a key of an account is not created after the account is closed on another node', async () => {
      const { store, other } = await kind.open()
      const account = await make(store.accounts, 'ada')
      const bytes = new Uint8Array(32).fill(5)

      const [closed, created] = await Promise.allSettled([
        close(store, account.publicId),
        makeKey(other, account, bytes),
      ])
      const again = await rejection(makeKey(other, account, new Uint8Array(32).fill(6)))

      // The two nodes are not told which of them comes first.
      const isCreated = created.status === 'fulfilled'
      const known = await store.apiKeys.authenticate(base64(bytes))
      expect(closed.status).toBe('fulfilled')
      expect(known).toEqual(
        isCreated ? { account: { ...account, closedAtMs: NOW + 1 }, apiKey: created.value } : undefined,
      )
      expect(again).toMatchObject({ code: 'already_closed' })
    })
  })
}
