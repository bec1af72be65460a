import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { JobKind } from '../../../src/domain/jobs/job.ts'
import { formatUsd, nanoUsd, usd } from '../../../src/domain/money.ts'
import type { TestAccount } from '../../support/gateway.ts'
import { startScriptedImages, STEP_MS } from '../gateways/image-gateway.ts'
import { mediaCases, requestOf, RESERVED, type MediaCase } from '../money/settlement/media-cases.ts'
import { videoModel } from '../gateways/video-gateway.ts'

/** The row whose case needs a store that cannot be written. */
const NOT_RECORDED = 'The reserve cannot be recorded (503)'

type JobDetails = {
  readonly id: string
  readonly state: string
  readonly failure: { readonly reason: string } | null
  readonly cost_usd: string | null
  readonly loss_usd: string | null
}

let gateway: Awaited<ReturnType<typeof startScriptedImages>>
let account: TestAccount

beforeEach(async () => {
  gateway = await startScriptedImages({ models: [videoModel('film')] })
})
afterEach(() => gateway.stop())

const rows = Map.groupBy(mediaCases, ({ row }) => row)
const kinds = ['image', 'video'] as const satisfies readonly JobKind[]

describe.each([...rows])('%s', (_, cases) => {
  const plays = cases.flatMap(one =>
    (one.kind === undefined ? kinds : [one.kind]).map(kind => [kind, one.title, one] as const),
  )

  test.each(plays)('%s', async (kind, _, one) => {
    account = await gateway.account({ grant: one.grant ?? '10' })

    const response = await play(one, kind)

    const { refused, state, reason, charged = '0', loss = null, isHeld = false } = one.ends
    if (refused !== undefined) {
      expect(response?.status).toBe(refused)
      expect(await job()).toBeUndefined()
      expect(gateway.media.submits).toEqual([])
    } else {
      const { cost_usd: cost, loss_usd, ...ended } = (await job())!
      expect([ended.state, ended.failure?.reason, loss_usd]).toEqual([state!, reason, loss])
      expect(cost).toBe(charged === '0' ? null : charged)
      expect(gateway.media.submits).toHaveLength(1)
    }
    const held = isHeld ? RESERVED[kind] : '0'
    await expectMoney({ grant: one.grant ?? '10', charged, held })
    expect(await operations()).toEqual(operationsOf(one))
    // The next pass changes nothing, unless it is the one that releases a submit that was not sent.
    if (!isHeld || one.afterMs !== null) await gateway.reconcile()
    await expectMoney({ grant: one.grant ?? '10', charged, held })
    await gateway.verify()
  })
})

/**
 * Sends the request and runs the reconciler, as the case says. Returns the reply, unless it came with the clock's help.
 */
async function play({ submitted, next, afterMs = STEP_MS, late, ...one }: MediaCase, kind: JobKind) {
  const { media } = gateway
  media.submitted = submitted
  const path = kind === 'image' ? '/v1/images/generations' : '/v1/videos'
  const request = { ...requestOf[kind], ...one.request }
  const startedAtMs = gateway.clock.now()
  const waits = kind === 'image' && submitted === undefined && one.ends.refused === undefined
  const response = waits
    ? void (await gateway.running(account.key, request))
    : await gateway.create(account.key, request, { path })
  await response?.arrayBuffer()
  next?.(media, kind)
  if (afterMs !== null && one.ends.refused === undefined) {
    gateway.clock.advance(Math.max(STEP_MS, startedAtMs + afterMs - gateway.clock.now()))
    await gateway.reconcile()
  }
  late?.(media, kind)
  if (late !== undefined) await gateway.reconcile()
  return response
}

/** The only job of the gateway. */
async function job(): Promise<JobDetails | undefined> {
  const { data } = await gateway.admin<{ data: readonly JobDetails[] }>('GET', 'jobs')
  expect(data.length).toBeLessThanOrEqual(1)
  return data[0] && gateway.admin<JobDetails>('GET', `jobs/${data[0].id}`)
}

async function expectMoney({ grant, charged, held }: { grant: string; charged: string; held: string }) {
  const available = formatUsd(nanoUsd(usd(grant) - usd(charged) - usd(held)))
  expect(await gateway.money(account)).toEqual({ available, held })
}

/** The kinds of the operations of the account, oldest first. */
async function operations(): Promise<readonly string[]> {
  type Line = { readonly kind: string }
  const { data } = await gateway.admin<{ data: readonly Line[] }>('GET', `accounts/${account.id}/statement`)
  return data.map(({ kind }) => kind).toReversed()
}

function operationsOf({ ends }: MediaCase): readonly string[] {
  if (ends.refused !== undefined) return ['grant']
  if (ends.isHeld === true) return ['grant', 'hold']
  if (ends.charged !== undefined) return ['grant', 'hold', 'capture']
  return ['grant', 'hold', 'release', ...(ends.loss === undefined ? [] : ['loss'])]
}

test('every row of the table in docs/settlement.md has a case, and every case has a row', () => {
  const text = readFileSync(join(import.meta.dirname, '../../../docs/settlement.md'), 'utf8')
  const section = text.split('\n## ').find(part => part.startsWith('Images and videos\n')) ?? ''
  const cells = section
    .split('\n')
    .filter(line => line.startsWith('| '))
    .map(line => line.split('|')[1]?.trim())
  const [, ...documented] = cells.filter(cell => !/^-+$/.test(cell ?? ''))

  expect(new Set(documented)).toEqual(new Set([...rows.keys(), NOT_RECORDED]))
})
