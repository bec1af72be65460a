import { expect, test } from 'bun:test'
import { fakeClock } from '../../../../test/support/fake-clock.ts'
import { noGuard } from '../../../../test/support/no-guard.ts'
import { aSqliteStore } from '../../../../test/support/test-store.ts'
import { turn } from '../../../../test/support/turn.ts'
import { verifiedParts } from '../../ports/ledger/ledger.ts'
import { OperatorChecks } from './verify-books.ts'

const soundAnchor = { problem: undefined, acceptLoss: async () => {} }
const noResults = { damageOf: async () => undefined }

function checksOfNewBooks() {
  const { ledger } = aSqliteStore()
  return new OperatorChecks({
    ledger,
    blobs: noResults,
    anchor: soundAnchor,
    guard: noGuard,
    clock: fakeClock(),
  })
}

test('a running check says which part it reads, each part once and in their order', async () => {
  const checks = checksOfNewBooks()
  const seen = new Set<string>()

  const ended = checks.check({ isAfterDecision: false })
  while (checks.running !== undefined) {
    if (checks.running.part !== undefined) seen.add(checks.running.part)
    await turn()
  }
  await ended

  expect([...seen]).toEqual(verifiedParts.filter(part => seen.has(part)))
  expect(seen.size).toBeGreaterThan(verifiedParts.length / 2)
})

test('a second check joins the one that runs, and the last one is kept', async () => {
  const checks = checksOfNewBooks()

  const [first, second] = await Promise.all([
    checks.check({ isAfterDecision: false }),
    checks.check({ isAfterDecision: false }),
  ])

  expect(second).toBe(first)
  expect(checks.running).toBeUndefined()
  expect(checks.last).toMatchObject({ problems: [], entries: first.entries })
})

test('after a decision of the operator, a check begins anew, because the running one does not know it', async () => {
  const checks = checksOfNewBooks()

  const [first, second, third] = await Promise.all([
    checks.check({ isAfterDecision: false }),
    checks.check({ isAfterDecision: true }),
    checks.check({ isAfterDecision: true }),
  ])

  expect(second).not.toBe(first)
  expect(third).not.toBe(second)
})

test('a check that could not run is over, and the next one begins', async () => {
  const store = aSqliteStore()
  const checks = new OperatorChecks({
    ledger: store.ledger,
    blobs: noResults,
    anchor: soundAnchor,
    guard: noGuard,
    clock: fakeClock(),
  })
  await store.close()

  const refused = await checks.check({ isAfterDecision: false }).catch((error: unknown) => error)

  expect(refused).toBeInstanceOf(Error)
  expect(checks.running).toBeUndefined()
  expect(checks.last).toBeUndefined()
})
