import { join } from 'node:path'
import { expect } from 'bun:test'
import type { Id } from '../../src/domain/ids.ts'
import { nanoUsd, usd, type NanoUsd } from '../../src/domain/money.ts'
import type { AttemptId } from '../../src/gateway/ports/attempts.ts'
import type { Captured, Credit, Hold, HoldOutcome } from '../../src/gateway/ports/ledger.ts'
import type { SqliteStore } from '../../src/stores/sqlite/store.ts'
import { aDataFolder } from '../support/data-folder.ts'
import { aBill, aCharge, anAccount, anAttempt, anAudit, NOW } from '../support/ledger-builders.ts'
import { aSqliteStore, kill } from '../support/test-store.ts'
import { ACCOUNTS, type Call, type Wave } from './ledger-histories.ts'
import { LedgerModel, type ModelTerms, type Outcome } from './ledger-model.ts'

/**
 * Runs a history on a real store and on the model. Each call must have the same result in both, and after each wave
 * every balance must be the same. At the end, the ledger must be sound, also after the store is opened again.
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
  readonly #model = new LedgerModel()
  readonly #payers: { readonly accountId: number; readonly apiKeyId: number }[] = []
  /** The current hold of each number. After a hold has ended, the next one with its number gets a new id. */
  readonly #terms = new Map<number, ModelTerms>()
  #store: SqliteStore = aSqliteStore(this.#path)
  /** The text holds with a pending capture. Releasing one waits for the capture. */
  readonly #capturing = new Set<bigint>()
  #keys = 1000n
  #isDiskFull = false
  #signalCommitted: () => void = () => undefined

  static async start(): Promise<Run> {
    const run = new Run()
    run.#watchCommits()
    for (let made = 0; made < ACCOUNTS; made += 1) run.#payers.push(await anAccount(run.#store))
    return run
  }

  async runWave({ calls, fate }: Wave): Promise<void> {
    this.#isDiskFull = fate === 'disk full'
    const committed = new Promise<void>(resolve => (this.#signalCommitted = resolve))
    const made = calls.map(call => this.#make(call))
    const isCommitted = fate !== 'disk full' && fate !== 'killed before the commit'
    if (fate === 'killed after the commit' && made.some(({ decided }) => decided === undefined))
      await committed
    if (fate.startsWith('killed')) kill(this.#store)
    if (fate === 'closed') await this.#store.close()
    // In the order of the calls. Calls that were decided immediately have been applied already.
    const expected = made.map(({ decided, apply }) => decided ?? (isCommitted ? apply() : 'error'))

    const outcomes = await Promise.all(made.map(({ outcome }) => outcome))

    expect(outcomes).toEqual(expected)
    this.#isDiskFull = false
    this.#capturing.clear()
    if (fate !== 'answered' && fate !== 'disk full') await this.#openAgain()
    await this.#expectBalances()
  }

  async reopen(): Promise<void> {
    await this.end()
    await this.#openAgain()
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
      expect(usage.map(({ id, cost }): unknown => [id.key, cost])).toEqual(
        charges.map(({ key, cost }) => [key, cost]),
      )
    }
  }

  async #expectBalances(): Promise<void> {
    for (const { accountId } of this.#payers) {
      const balance: object = await this.#store.ledger.balance(accountId)
      expect(balance).toEqual(this.#model.balance(accountId))
    }
  }

  async #openAgain(): Promise<void> {
    this.#store = aSqliteStore(this.#path)
    this.#watchCommits()
    this.#model.forgetTextHolds()
  }

  #watchCommits(): void {
    this.#store.transactions.join({
      beforeCommit: () => {
        if (this.#isDiskFull) throw new Error('disk full')
      },
      afterCommit: () => this.#signalCommitted(),
    })
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
      case 'recordAttempt':
        return this.#recordAttempt(call)
      case 'billAttempt':
        return this.#billAttempt(call)
      case 'compensate':
        return this.#compensate(call)
    }
  }

  #credit({ credit, idempotencyKey, differs }: Extract<Call, { call: 'credit' }>): Made {
    const request = {
      key: BigInt(credit + 1),
      accountId: this.#payer(credit).accountId,
      amount: dollars(credit + (differs ? 2 : 1)),
      source: credit % 3 === 0 ? ('promotions' as const) : ('cash' as const),
    }
    const { key, ...rest } = request
    const answer = this.#store.ledger.credit({
      ...rest,
      id: idOf(key),
      audit: anAudit(),
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    })
    return inTurn(answer, creditOutcome, () => this.#model.credit(request, idempotencyKey))
  }

  #placeHold({ hold, account, dollars: count, differs }: Extract<Call, { call: 'placeHold' }>): Made {
    const open = this.#terms.get(hold)
    const state = open === undefined ? undefined : this.#model.stateOf(open.key)
    const terms =
      open === undefined || state === 'captured' || state === 'released'
        ? this.#newTerms(hold, { account, amount: dollars(count) })
        : differs && state === 'open'
          ? { ...open, amount: nanoUsd(open.amount + 1n) }
          : open
    const { key, accountId, kind } = terms
    const request = { id: idOf(key), accountId, kind, amount: nanoUsd(terms.amount), atMs: NOW }
    const answer = this.#store.ledger.placeHold(request)
    return kind === 'text'
      ? atOnce(answer, holdOutcome, this.#model.placeHold(terms))
      : inTurn(answer, holdOutcome, () => this.#model.placeHold(terms))
  }

  #captureHold({ hold, dollars: count }: Extract<Call, { call: 'captureHold' }>): Made {
    const terms = this.#termsOf(hold)
    const charge = aCharge(this.#apiKeyIdOf(terms.accountId), { tokens: count })
    if (this.#model.stateOf(terms.key) === 'open') this.#capturing.add(terms.key)
    const answer = this.#store.ledger.captureHold(holdOf(terms), charge)
    return inTurn(answer, capturedOutcome, () => this.#model.captureHold(terms.key, charge.cost))
  }

  #releaseHold({ hold }: Extract<Call, { call: 'releaseHold' }>): Made {
    const terms = this.#termsOf(hold)
    const answer = this.#store.ledger.releaseHold(holdOf(terms), NOW)
    const isAtOnce = terms.kind === 'text' && !this.#capturing.has(terms.key)
    return isAtOnce
      ? atOnce(answer, releasedOutcome, this.#model.releaseHold(terms.key))
      : inTurn(answer, releasedOutcome, () => this.#model.releaseHold(terms.key))
  }

  #recordAttempt({ attempt }: Extract<Call, { call: 'recordAttempt' }>): Made {
    const { key } = attemptOf(attempt).requestId
    const payer = this.#payer(attempt)
    const answer = this.#store.attempts.record({ ...anAttempt(payer), ...attemptOf(attempt) })
    return inTurn(
      answer,
      () => 'recorded',
      () => this.#model.recordAttempt(key, payer.accountId),
    )
  }

  #billAttempt({ attempt, dollars: count }: Extract<Call, { call: 'billAttempt' }>): Made {
    const { key } = attemptOf(attempt).requestId
    const bill = aBill({ tokens: count })
    const answer = this.#store.attempts.bill(attemptOf(attempt), bill)
    return inTurn(
      answer,
      isBilled => ({ isBilled }),
      () => this.#model.billAttempt(key, bill.cost),
    )
  }

  #compensate({ attempt }: Extract<Call, { call: 'compensate' }>): Made {
    const { key } = attemptOf(attempt).requestId
    const answer = this.#store.ledger.compensate(attemptOf(attempt), NOW)
    return inTurn(
      answer,
      ({ cost, isFirst }) => ({ compensated: cost, isFirst }),
      () => this.#model.compensate(key),
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

  /** The current hold of this number, or one that was never placed. */
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

/** A pending call, and its expected result. */
type Made = {
  readonly outcome: Promise<Outcome>
  /** The result, if the store decides immediately, as for text holds. */
  readonly decided: Outcome | undefined
  /** Applies the call to the model when it is its turn. */
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
  return { credit: id.key, available }
}

function holdOutcome(outcome: HoldOutcome): Outcome {
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
  return { requestId: idOf(BigInt(500 + attempt)), number: 1 }
}

function idOf(key: bigint): Id {
  return { key, tail: -key }
}

function dollars(count: number): NanoUsd {
  return usd(String(count))
}
