import { join } from 'node:path'
import { expect } from 'bun:test'
import type { Id } from '../../src/domain/ids.ts'
import { nanoUsd, usd, type NanoUsd } from '../../src/domain/money.ts'
import type { AttemptId } from '../../src/gateway/ports/ledger/attempts.ts'
import type {
  Captured,
  Correction,
  Credit,
  Hold,
  HoldOutcome,
} from '../../src/gateway/ports/ledger/ledger.ts'
import { aDataFolder } from '../support/data-folder.ts'
import { aBill, aChargeOf, anAccount, anAttempt, anAudit, NOW } from '../support/ledger-builders.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { aSqliteStore, kill, nodeSettings, type TestSqlite, type TestStore } from '../support/test-store.ts'
import { ACCOUNTS, type Call, type Wave } from './ledger-histories.ts'
import { LedgerModel, type ModelTerms, type Outcome } from './ledger-model.ts'

/**
 * Runs a history on two nodes of a real store and on the model. Each call must have the same outcome in both, and so
 * must every balance after each wave. At the end the books must be in order, also after a restart.
 */
export async function runHistory(history: readonly Wave[]): Promise<void> {
  const run = await Run.start()
  for (const wave of history) await run.runWave(wave)
  await run.expectBooksInOrder()
  await run.reopen()
  await run.expectBooksInOrder()
  await run.end()
}

class Run {
  readonly #path = join(aDataFolder(), 'tollgate.db')
  readonly #clock = fakeClock(NOW)
  readonly #model = new LedgerModel()
  readonly #payers: { readonly accountId: number; readonly apiKeyId: number }[] = []
  /** The terms of each hold. After a hold has ended, the next one with its number gets a new id. */
  readonly #terms = new Map<number, ModelTerms>()
  /** The text holds whose capture waits: a release waits behind it. */
  readonly #capturing = new Set<bigint>()
  #store!: TestSqlite
  #nodes!: readonly Pick<TestStore, 'ledger' | 'attempts'>[]
  #keys = 1000n
  #isDiskFull = false

  static async start(): Promise<Run> {
    const run = new Run()
    run.#open()
    for (let made = 0; made < ACCOUNTS; made += 1) run.#payers.push(await anAccount(run.#store))
    return run
  }

  async runWave({ afterMs, calls, fate }: Wave): Promise<void> {
    this.#clock.advance(afterMs)
    this.#model.nowMs = this.#clock.now()
    this.#isDiskFull = fate === 'disk full'
    const made = calls.map(call => ({ node: call.node, ...this.#make(call) }))
    const undecided = made.filter(({ decided }) => decided === undefined)
    // Each node commits its calls of a wave in one turn, and no other code runs between the commit and this.
    const first = Promise.race(undecided.map(({ node, outcome }) => outcome.then(() => node)))
    if (fate === 'killed after the commit' && undecided.length > 0) await first
    if (fate.startsWith('killed')) kill(this.#store)
    if (fate === 'closed') await this.#store.close()

    const outcomes = await Promise.all(made.map(({ outcome }) => outcome))

    const firstNode = undecided.length > 0 ? await first : 0
    const committed = committedNodes(fate, firstNode)
    const expected = new Map(made.map(one => [one, one.decided ?? 'error']))
    for (const node of committed) {
      for (const one of undecided) if (one.node === node) expected.set(one, one.apply())
      if (fate === 'closed') this.#model.closeNode(node)
    }
    expect(outcomes).toEqual(made.map(one => expected.get(one)!))
    this.#isDiskFull = false
    this.#capturing.clear()
    if (fate !== 'answered' && fate !== 'disk full') this.#openAgain()
    await this.#expectBalances()
  }

  async reopen(): Promise<void> {
    await this.end()
    this.#openAgain()
  }

  end(): Promise<void> {
    return this.#store.close()
  }

  async expectBooksInOrder(): Promise<void> {
    const { ledger } = this.#store
    await this.#expectBalances()
    expect((await ledger.verify()).problems).toEqual([])
    for (const { accountId } of this.#payers) {
      const { available, held } = this.#model.balance(accountId)
      const lines = await ledger.statement(accountId, { limit: 1000 })
      expect(lines.reduce((sum, { amount }) => sum + amount, 0n)).toBe(available + held.text)
      const charges = this.#model.charges.filter(charge => charge.accountId === accountId).toReversed()
      const usage = await ledger.usage(accountId, { limit: 1000 })
      expect(usage.map(({ id, cost, refunded }): unknown => [id.tail, cost, refunded])).toEqual(
        charges.map(({ key, cost, refunded }) => [-key, cost, refunded]),
      )
      expect(usage.filter(({ cost, refunded }) => refunded > cost)).toEqual([])
      const refunds = await ledger.refunds(accountId, { limit: 1000 })
      expect(refunds.reduce((sum, { amount }) => sum + amount, 0n)).toBe(
        charges.reduce((sum, { refunded }) => sum + refunded, 0n),
      )
    }
  }

  async #expectBalances(): Promise<void> {
    for (const { accountId } of this.#payers) {
      const balance: object = await this.#store.ledger.balance(accountId)
      expect(balance).toEqual(this.#model.balance(accountId))
    }
  }

  #openAgain(): void {
    this.#open()
    this.#model.restart()
  }

  #open(): void {
    this.#store = aSqliteStore(this.#path, this.#clock)
    this.#nodes = [this.#store, this.#store.openNode(nodeSettings('other', this.#clock))]
    this.#store.transactions.join({
      beforeCommit: () => {
        if (this.#isDiskFull) throw new Error('disk full')
      },
    })
  }

  #on({ node }: Call) {
    return this.#nodes[node]!
  }

  #make(call: Call): Made {
    switch (call.call) {
      case 'credit':
        return this.#credit(call)
      case 'placeHold':
        return this.#placeHold(call)
      case 'captureHold':
        return this.#captureHold(call)
      case 'releaseHold':
        return this.#releaseHold(call)
      case 'expireHold':
        return this.#expireHold(call)
      case 'renewHolds':
        return this.#renewHolds(call)
      case 'recordAttempt':
        return this.#recordAttempt(call)
      case 'billAttempt':
        return this.#billAttempt(call)
      case 'compensate':
        return this.#compensate(call)
      case 'debit':
        return this.#debit(call)
      case 'refund':
        return this.#refund(call)
    }
  }

  #credit(call: Extract<Call, { call: 'credit' }>): Made {
    const { credit, idempotencyKey, differs } = call
    const request = {
      key: BigInt(credit + 1),
      accountId: this.#payer(credit).accountId,
      amount: dollars(credit + (differs ? 2 : 1)),
      source: credit % 3 === 0 ? ('promotions' as const) : ('cash' as const),
    }
    const { key, ...rest } = request
    const answer = this.#on(call).ledger.credit({
      ...rest,
      id: idOf(key),
      audit: anAudit(),
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    })
    return inTurn(answer, creditOutcome, () => this.#model.credit(request, idempotencyKey))
  }

  #placeHold(call: Extract<Call, { call: 'placeHold' }>): Made {
    const { hold, account, dollars: count, differs } = call
    const open = this.#terms.get(hold)
    const state = open === undefined ? undefined : this.#model.stateOf(open.key)
    const terms =
      open === undefined ||
      state === 'captured' ||
      state === 'released' ||
      (state === 'expired' && hold % 2 === 1)
        ? this.#newTerms(hold, { account, amount: dollars(count) })
        : differs && state === 'open'
          ? { ...open, amount: nanoUsd(open.amount + 1n) }
          : open
    const { key, accountId, kind } = terms
    const request = { id: idOf(key), accountId, kind, amount: nanoUsd(terms.amount), atMs: NOW }
    const answer = this.#on(call).ledger.placeHold(request)
    return kind === 'text'
      ? atOnce(answer, holdOutcome, this.#model.placeHold(terms, call.node))
      : inTurn(answer, holdOutcome, () => this.#model.placeHold(terms, call.node))
  }

  #captureHold(call: Extract<Call, { call: 'captureHold' }>): Made {
    const { hold, dollars: count } = call
    const terms = this.#termsOf(hold)
    const charge = aChargeOf(terms.kind, this.#apiKeyIdOf(terms.accountId), count)
    const state = this.#model.stateOf(terms.key)
    if (state === 'open' || state === 'expired') this.#capturing.add(terms.key)
    const answer = this.#on(call).ledger.captureHold(holdOf(terms), charge)
    return inTurn(answer, capturedOutcome, () => this.#model.captureHold(terms.key, charge.cost))
  }

  #releaseHold(call: Extract<Call, { call: 'releaseHold' }>): Made {
    const { hold } = call
    const terms = this.#termsOf(hold)
    const answer = this.#on(call).ledger.releaseHold(holdOf(terms), NOW)
    const isAtOnce = terms.kind === 'text' && !this.#capturing.has(terms.key)
    return isAtOnce
      ? atOnce(answer, releasedOutcome, this.#model.releaseHold(terms.key))
      : inTurn(answer, releasedOutcome, () => this.#model.releaseHold(terms.key))
  }

  #expireHold(call: Extract<Call, { call: 'expireHold' }>): Made {
    const terms = this.#termsOf(call.hold)
    const answer = this.#on(call).ledger.expireHolds([holdOf(terms)], NOW)
    const read = (expired: number) => ({ isExpired: expired === 1 })
    if (terms.kind === 'media') return inTurn(answer, read, () => this.#model.expireHold(terms.key))
    return this.#capturing.has(terms.key)
      ? atOnce(answer, read, { isExpired: false })
      : atOnce(answer, read, this.#model.expireHold(terms.key))
  }

  #renewHolds(call: Extract<Call, { call: 'renewHolds' }>): Made {
    const answer = this.#on(call).ledger.renewHolds()
    this.#model.renewHolds('text', call.node)
    return inTurn(
      answer,
      () => 'renewed',
      () => this.#model.renewHolds('media', call.node),
    )
  }

  #recordAttempt(call: Extract<Call, { call: 'recordAttempt' }>): Made {
    const { attempt } = call
    const key = attemptKey(attempt)
    const payer = this.#payer(attempt)
    const answer = this.#on(call).attempts.record({ ...anAttempt(payer), ...attemptOf(attempt) })
    return inTurn(
      answer,
      () => 'recorded',
      () => this.#model.recordAttempt(key, payer.accountId),
    )
  }

  #billAttempt(call: Extract<Call, { call: 'billAttempt' }>): Made {
    const { attempt, dollars: count } = call
    const key = attemptKey(attempt)
    const bill = aBill({ tokens: count })
    const answer = this.#on(call).attempts.bill(attemptOf(attempt), bill)
    return inTurn(
      answer,
      isBilled => ({ isBilled }),
      () => this.#model.billAttempt(key, bill.cost),
    )
  }

  #compensate(call: Extract<Call, { call: 'compensate' }>): Made {
    const { attempt } = call
    const key = attemptKey(attempt)
    const answer = this.#on(call).ledger.compensate(attemptOf(attempt), NOW)
    return inTurn(
      answer,
      ({ cost, isFirst }) => ({ compensated: cost, isFirst }),
      () => this.#model.compensate(key),
    )
  }

  #debit(call: Extract<Call, { call: 'debit' }>): Made {
    const { correction, dollars: count, idempotencyKey, allowNegative } = call
    const key = debitKey(correction)
    const { accountId } = this.#payer(correction)
    const request = { accountId, amount: dollars(count), allowNegative }
    const answer = this.#on(call).ledger.debit({
      ...request,
      id: idOf(key),
      audit: anAudit(),
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    })
    return inTurn(answer, correctionOutcome, () =>
      this.#model.debit({ key, ...request }, { idempotencyKey, allowNegative }),
    )
  }

  #refund(call: Extract<Call, { call: 'refund' }>): Made {
    const { correction, dollars: count, idempotencyKey, charge: of } = call
    const key = refundKey(correction)
    const charge = 'hold' in of ? this.#termsOf(of.hold).key : attemptKey(of.attempt)
    const amount = dollars(count)
    const answer = this.#on(call).ledger.refund({
      id: idOf(key),
      charge: idOf(charge),
      amount,
      audit: anAudit(),
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    })
    return inTurn(answer, correctionOutcome, () =>
      this.#model.refund({ key, amount, charge }, { idempotencyKey }),
    )
  }

  #newTerms(
    hold: number,
    { account, amount }: { readonly account: number; readonly amount: bigint },
  ): ModelTerms {
    this.#keys += 1n
    const kind = hold % 2 === 0 ? 'text' : 'media'
    const terms = { key: this.#keys, accountId: this.#payer(account).accountId, kind, amount } as const
    this.#terms.set(hold, terms)
    return terms
  }

  /** The terms of a hold; of one that was never placed if there is none with this number. */
  #termsOf(hold: number): ModelTerms {
    return this.#terms.get(hold) ?? this.#newTerms(hold, { account: 0, amount: dollars(1) })
  }

  #payer(number: number) {
    return this.#payers[number % ACCOUNTS]!
  }

  #apiKeyIdOf(accountId: number): number {
    return this.#payers.find(payer => payer.accountId === accountId)!.apiKeyId
  }
}

/** A pending call, and its outcome in the model. */
type Made = {
  readonly outcome: Promise<Outcome>
  /** The outcome of a call that the store decides at once, as it does for text holds. */
  readonly decided: Outcome | undefined
  /** Applies a call that waits for its commit to the model. */
  readonly apply: () => Outcome
}

function atOnce<Answer>(
  answer: Answer | Promise<Answer>,
  read: (answer: Answer) => Outcome,
  decided: Outcome,
): Made {
  return { ...inTurn(answer, read, () => decided), decided }
}

function inTurn<Answer>(
  answer: Answer | Promise<Answer>,
  read: (answer: Answer) => Outcome,
  apply: () => Outcome,
): Made {
  return { outcome: Promise.resolve(answer).then(read, () => 'error'), decided: undefined, apply }
}

function creditOutcome({ id, available }: Credit): Outcome {
  return { credit: -id.tail, available }
}

function correctionOutcome({ id, available }: Correction): Outcome {
  return { correction: -id.tail, available }
}

function holdOutcome(outcome: HoldOutcome): Outcome {
  if (outcome.outcome === 'limited') throw new Error('No account has limits.')
  return outcome.outcome === 'held' ? 'held' : { refused: outcome.available, held: outcome.held }
}

function capturedOutcome({ cost, shortfall }: Captured): Outcome {
  return { cost, shortfall }
}

function releasedOutcome(): Outcome {
  return 'released'
}

function holdOf({ key, accountId, kind, amount }: ModelTerms): Hold {
  return { id: idOf(key), accountId, kind, amount: nanoUsd(amount) }
}

function attemptOf(attempt: number): AttemptId {
  return { requestId: idOf(attemptKey(attempt)), number: 1 }
}

function attemptKey(attempt: number): bigint {
  return BigInt(500 + attempt)
}

function debitKey(correction: number): bigint {
  return BigInt(300 + correction)
}

function refundKey(correction: number): bigint {
  return BigInt(400 + correction)
}

/** Ids that share their first half, as those of two nodes can. */
function idOf(key: bigint): Id {
  return { key: key / 100n, tail: -key }
}

/** The nodes whose calls of the wave are committed, in the order of their commits. */
function committedNodes(fate: Wave['fate'], first: number): readonly number[] {
  switch (fate) {
    case 'disk full':
    case 'killed before the commit':
      return []
    case 'killed after the commit':
      return [first]
    case 'closed':
      // The store closes its nodes in the order in which they were opened.
      return [0, 1]
    case 'answered':
      return [first, 1 - first]
  }
}

function dollars(count: number): NanoUsd {
  return usd(String(count))
}
