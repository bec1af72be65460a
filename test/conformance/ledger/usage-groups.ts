import { describe, expect, test } from 'bun:test'
import {
  groupOf,
  isOf,
  type AttributedRequest,
  type Attribution,
  type AttributionFilter,
  type AttributionGrouping,
} from '../../../src/domain/ledger/attribution.ts'
import { addUsd, nanoUsd, usd, ZERO, type NanoUsd } from '../../../src/domain/money.ts'
import type { GroupedUsage, UsageGroup } from '../../../src/gateway/ports/ledger/ledger-reports.ts'
import type { Ledger } from '../../../src/gateway/ports/ledger/ledger.ts'
import { aCharge, anAccount, anAudit, anId, hold, NOW, openWithFunds } from '../../support/ledger-builders.ts'
import { rejection } from '../../support/rejection.ts'
import type { StoreKind } from '../../support/test-store.ts'

const HOUR = 3_600_000
const BETWEEN = { fromMs: NOW + 5 * HOUR, toMs: NOW + 70 * HOUR }
const ALL: AttributionFilter = { tags: new Map() }
const USER = { by: 'user' } as const
const TEAM = { by: 'tag', name: 'team' } as const

/** The usage of a time, in groups by tag or user. */
export function usageGroupsConform(kind: StoreKind): void {
  describe('grouped usage', () => {
    /** 80 charges, an hour apart, and refunds of every ninth. */
    async function setUp() {
      const { store, ledger, accountId, apiKeyId } = await openWithFunds(kind, usd('1000'))
      const other = await anAccount(store, { funds: usd('1000') })
      const made: Made[] = []
      for (let index = 0; index < 80; index += 1) {
        const payer = index % 11 === 5 ? other : { accountId, apiKeyId }
        const held = await hold(ledger, { ...payer, kind: 'text', amount: usd('9') })
        const request = { ...anAttribution(index), apiKeyId: payer.apiKeyId }
        const charge = aCharge(payer.apiKeyId, {
          tokens: 1 + (index % 7),
          atMs: NOW + index * HOUR,
          providerCost: index % 4 === 0 ? null : nanoUsd(BigInt(index) ** 5n),
          ...request,
        })
        await ledger.captureHold(held, charge)
        if (payer === other) continue
        const { cost, providerCost } = charge
        made.push({ request, atMs: charge.atMs, cost, providerCost, charges: 1, refunded: ZERO })
        if (index % 9 !== 3) continue
        const atMs = NOW + index * HOUR + 4 * HOUR
        const refund = { id: anId(), charge: held.id, amount: usd('0.5'), idempotencyKey: `r${index}` }
        await ledger.refund({ ...refund, audit: anAudit({ atMs }) })
        made.push({ request, atMs, cost: ZERO, providerCost: ZERO, charges: 0, refunded: refund.amount })
      }
      return { ledger, accountId, made }
    }

    test.each<[string, AttributionGrouping, AttributionFilter]>([
      ['by user', USER, ALL],
      ['by a tag', TEAM, ALL],
      ['by a tag, of one user', TEAM, { tags: new Map(), userId: 'user 2' }],
      [
        'by user, with two tags',
        USER,
        {
          tags: new Map([
            ['team', 'b'],
            ['stage', 'x'],
          ]),
        },
      ],
      ['by a tag that no request has', { by: 'tag', name: 'nothing' }, ALL],
      ['of requests that there are none of', USER, { tags: new Map([['team', 'z']]) }],
    ])(
      'grouped usage has the sums of each group and of all, on pages of any length: %s',
      async (_, grouping, matching) => {
        const { ledger, accountId, made } = await setUp()
        const selected = made.filter(({ request, atMs }) => {
          return isOf(request, matching) && atMs >= BETWEEN.fromMs && atMs < BETWEEN.toMs
        })
        const values = [...new Set(selected.map(({ request }) => groupOf(request, grouping)))].sort(
          valuesInOrder,
        )
        const groups = values.map(value =>
          sumOf(selected.filter(({ request }) => groupOf(request, grouping) === value)),
        )

        for (const limit of [1, 2, 3, 100]) {
          const pages = await readPages(ledger, accountId, { between: BETWEEN, matching, grouping, limit })

          expect(pages.flatMap(page => page.groups.map(({ value }) => value))).toEqual(values)
          expect(pages.flatMap(page => page.groups)).toMatchObject(groups)
          for (const { totals } of pages) expect(totals).toMatchObject(sumOf(selected))
        }
      },
    )

    test('the groups of a time add up to its totals', async () => {
      const { ledger, accountId } = await setUp()

      const asked = { between: BETWEEN, matching: ALL, limit: 9, signal: new AbortController().signal }
      const { totals, groups } = await ledger.usageGroups(accountId, asked)

      expect(totals).toEqual(await ledger.usageTotals(accountId, BETWEEN))
      expect(groups).toEqual([])
    })

    test('a list of usage and of refunds has only the requests that are asked for', async () => {
      const { ledger, accountId, made } = await setUp()
      const matching = { tags: new Map([['team', 'b']]) }
      const count = (test: (one: Made) => boolean) =>
        made.filter(one => isOf(one.request, matching) && test(one)).length

      const lines = await ledger.usage(accountId, { limit: 100, matching })
      const last = await ledger.usage(accountId, { limit: 100, matching, before: lines[2]!.cursor })
      const refunds = await ledger.refunds(accountId, { limit: 100, matching })

      expect(lines).toHaveLength(count(one => one.charges === 1))
      expect(lines.every(({ tags }) => tags?.get('team') === 'b')).toBe(true)
      expect(last).toEqual(lines.slice(3))
      expect(refunds).toHaveLength(count(one => one.charges === 0))
      expect(refunds.every(({ charge }) => charge.tags?.get('team') === 'b')).toBe(true)
    })

    test('grouped usage is not read on when its caller disconnects', async () => {
      const { ledger, accountId } = await setUp()
      const signal = AbortSignal.abort()

      const error = await rejection(
        ledger.usageGroups(accountId, { between: BETWEEN, matching: ALL, grouping: USER, limit: 9, signal }),
      )

      expect(error).toMatchObject({ message: 'The caller disconnected.' })
    })
  })
}

type Made = {
  readonly request: AttributedRequest
  readonly atMs: number
  readonly cost: NanoUsd
  readonly providerCost: NanoUsd | null
  readonly charges: number
  readonly refunded: NanoUsd
}

/** Many requests have the same tags, and some have none. */
function anAttribution(index: number): Attribution {
  const team = ['a', 'b', 'c', 'Z', undefined][index % 5]
  const user = index % 4 === 0 ? undefined : `user ${index % 6}`
  const tags = new Map([
    ...(team === undefined ? [] : ([['team', team]] as const)),
    ...(index % 3 === 0 ? ([['stage', 'x']] as const) : []),
  ])
  return { ...(tags.size > 0 && { tags }), ...(user !== undefined && { userId: user }) }
}

function sumOf(made: readonly Made[]) {
  const sum = (measure: (one: Made) => NanoUsd) =>
    made.reduce((total, one) => addUsd(total, measure(one)), ZERO)
  return {
    charges: made.reduce((total, one) => total + one.charges, 0),
    cost: sum(({ cost }) => cost),
    refunded: sum(({ refunded }) => refunded),
    compensated: ZERO,
    providerCost: sum(({ providerCost }) => providerCost ?? ZERO),
    chargesWithoutCost: made.filter(({ providerCost }) => providerCost === null).length,
  }
}

/** Null is the last one. */
function valuesInOrder(left: string | null, right: string | null): number {
  if (left === null || right === null) return left === null ? 1 : -1
  return left < right ? -1 : 1
}

async function readPages(ledger: Ledger, accountId: number, asked: Omit<GroupedUsage, 'signal' | 'after'>) {
  const { signal } = new AbortController()
  const pages: Awaited<ReturnType<Ledger['usageGroups']>>[] = []
  for (let last: UsageGroup | undefined; ;) {
    const after = last?.value ?? undefined
    const page = await ledger.usageGroups(accountId, {
      ...asked,
      signal,
      ...(after !== undefined && { after }),
    })
    pages.push(page)
    expect(page.groups.length).toBeLessThanOrEqual(asked.limit)
    if (!page.hasMore) return pages
    last = page.groups.at(-1)
  }
}
