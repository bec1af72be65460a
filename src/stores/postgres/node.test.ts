import { afterEach, describe, expect, test } from 'bun:test'
import { idsConform } from '../../../test/conformance/ids.ts'
import {
  aBill,
  anAccount,
  anAttempt,
  anImagesCharge,
  hold,
  NOW,
} from '../../../test/support/ledger-builders.ts'
import { aFailure, aJob, aResult, COST, HELD, jobIn, type Payer } from '../../../test/support/job-builders.ts'
import { aDatabase } from '../../../test/support/postgres/databases.ts'
import { Proxy } from '../../../test/support/postgres/proxy.ts'
import { runServer } from '../../../test/support/postgres/run-server.ts'
import { aNode } from '../../../test/support/postgres/a-node.ts'
import { conformsOnPostgres } from '../../../test/support/postgres/store-kind.ts'
import { rejection } from '../../../test/support/rejection.ts'
import type { TestStore } from '../../../test/support/test-store.ts'
import { addUsd, usd, ZERO } from '../../domain/money.ts'
import type { Hold } from '../../gateway/ports/ledger/ledger.ts'

conformsOnPostgres(idsConform)

const server = await runServer()
const ends: (() => unknown)[] = []

/** A node behind a proxy, another one, and an account with 100 USD. */
async function setUp() {
  const url = await aDatabase(server!)
  const proxy = Proxy.to(url)
  const [node, other] = [await aNode(proxy.url(url), 'node'), await aNode(url, 'other')]
  ends.push(
    () => node.close(),
    () => other.close(),
    () => proxy.stop(),
  )
  const payer = await anAccount(node, { funds: usd('100') })
  return { proxy, node, other, payer }
}

afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

describe.skipIf(server === undefined)('a node that lost its database', () => {
  test('a node that lost its database refuses new work at once, and records the ends of earlier work later', async () => {
    const { proxy, node, other, payer } = await setUp()
    const [timedOut, billed, compensated] = [anAttempt(payer), anAttempt(payer), anAttempt(payer)]
    for (const attempt of [billed, compensated]) await node.attempts.record(attempt)
    await node.attempts.bill(compensated, aBill())
    const [submitted, finished, failed] = [aJob(payer), aJob(payer), aJob(payer)]
    await jobIn('queued', node.jobs, submitted)
    for (const job of [finished, failed]) await jobIn('processing', node.jobs, job)
    const [media, spare] = [await aMediaHold(node, payer), await aMediaHold(node, payer)]
    proxy.requests = 'lost'

    const ended = Promise.all([
      node.attempts.record(timedOut),
      node.attempts.bill(billed, aBill()),
      node.ledger.compensate(compensated, NOW),
      node.jobs.loseSubmit(submitted.id, { problem: 'reset', atMs: NOW, deadlineAtMs: NOW + 9000 }),
      node.jobs.complete(finished.id, aResult()),
      node.jobs.fail(failed.id, aFailure),
      node.ledger.captureHold(media, anImagesCharge(payer.apiKeyId)),
      node.ledger.releaseHold(spare, NOW),
    ])
    const meanwhile = rejection(node.jobs.create(aJob(payer)))
    await new Promise(resolve => setImmediate(resolve))
    proxy.cut()
    const refused = [await meanwhile, await rejection(node.jobs.create(aJob(payer)))]
    proxy.heal()
    proxy.cut()
    await ended

    expect(refused).toMatchObject([{ code: 'unavailable' }, { code: 'unavailable' }])
    expect(await other.attempts.billed(9)).toMatchObject([{ requestId: billed.requestId }])
    const states = [submitted, finished, failed].map(async ({ id }) => (await other.jobs.find(id))?.state)
    expect(await Promise.all(states)).toEqual(['unknown_submit', 'completed', 'failed'])
    expect(await other.ledger.balance(payer.accountId)).toMatchObject({
      held: { text: ZERO, media: HELD },
      spent: { media: addUsd(COST, usd('1')) },
    })
    expect((await other.ledger.verify()).problems).toEqual([])
  })
})

function aMediaHold({ ledger }: Pick<TestStore, 'ledger'>, { accountId }: Payer): Promise<Hold> {
  return hold(ledger, { accountId, kind: 'media', amount: usd('1') })
}
