import type { Mutant } from '../mutant.ts'

const HOLD = 'src/domain/ledger/hold.ts'
const HOLD_TESTS = 'src/domain/ledger/hold.test.ts'
const CHARGE_TESTS = 'src/domain/pricing/charge.test.ts'
const QUOTE = 'src/gateway/text/quote-text.ts'
const QUOTE_TESTS = 'src/gateway/text/quote-text.test.ts'
const TEXT_HOLDS = 'src/stores/sqlite/text-holds.ts'
const LEDGER_TESTS = 'src/stores/sqlite/ledger.test.ts'
const QUEUE = 'src/gateway/hold-queue.ts'
const QUEUE_TESTS = 'src/gateway/hold-queue.test.ts'

/** Faults in amounts, prices, holds and the ledger. */
export const moneyMutants: readonly Mutant[] = [
  {
    name: 'an amount with few decimals is read too small',
    file: 'src/domain/money.ts',
    text: "fraction.padEnd(NANO_DIGITS, '0')",
    replacement: "fraction.padStart(NANO_DIGITS, '0')",
    tests: ['src/domain/money.test.ts'],
  },
  {
    name: 'a negative amount is read as a positive one',
    file: 'src/domain/money.ts',
    text: "sign === '-' ? -magnitude : magnitude",
    replacement: 'magnitude',
    tests: ['src/domain/money.test.ts'],
  },
  {
    name: 'a price is rounded down',
    file: 'src/domain/pricing/round-up.ts',
    text: '(dividend + divisor - 1n) / divisor',
    replacement: 'dividend / divisor',
    tests: [CHARGE_TESTS],
  },
  {
    name: 'a charge leaves out the price per request',
    file: 'src/domain/pricing/charge.ts',
    text: 'addUsd(divideRoundingUp(femtoUsd, TOKENS_PER_PRICE), tariff.perRequest ?? ZERO)',
    replacement: 'divideRoundingUp(femtoUsd, TOKENS_PER_PRICE)',
    tests: [CHARGE_TESTS],
  },
  {
    name: 'the worst case leaves out the price per request',
    file: 'src/domain/pricing/worst-case.ts',
    text: 'addUsd(divideRoundingUp(femtoUsd, TOKENS_PER_PRICE), tariff.perRequest ?? ZERO)',
    replacement: 'divideRoundingUp(femtoUsd, TOKENS_PER_PRICE)',
    tests: [CHARGE_TESTS],
  },
  {
    name: 'the worst case counts one choice only',
    file: 'src/domain/pricing/worst-case.ts',
    text: 'BigInt(outputTokens) * BigInt(choices) *',
    replacement: 'BigInt(outputTokens) *',
    tests: [CHARGE_TESTS],
  },
  {
    name: 'the worst case uses the last price of a bucket in place of the highest',
    file: 'src/domain/pricing/tariff.ts',
    text: 'if (price > max) max = price',
    replacement: 'max = price',
    tests: [CHARGE_TESTS],
  },
  {
    name: 'the affordable output ignores the price of the input',
    file: 'src/domain/pricing/worst-case.ts',
    text: ' * TOKENS_PER_PRICE - inputFemtoUsd',
    replacement: ' * TOKENS_PER_PRICE',
    tests: [CHARGE_TESTS],
  },
  {
    name: 'the hold counts more input than the context window',
    file: QUOTE,
    text: 'return Math.min(estimate, most)',
    replacement: 'return estimate',
    tests: [QUOTE_TESTS],
  },
  {
    name: 'a usage may exceed the output ceiling of its request',
    file: QUOTE,
    text: 'Math.min(model.maxOutputTokens, outputTokens) * choices',
    replacement: 'model.maxOutputTokens * choices',
    tests: [QUOTE_TESTS],
  },
  {
    name: "the upstream's own cost is charged beyond the worst case",
    file: QUOTE,
    text: 'cost: wanted > amount ? nanoUsd(amount) : wanted',
    replacement: 'cost: wanted',
    tests: [QUOTE_TESTS],
  },
  {
    name: 'an estimated input is not cut to the worst case',
    file: 'src/gateway/text/meter-usage.ts',
    text: 'Math.min(read + tokens, admitted.quote.worst.inputTokens)',
    replacement: 'read + tokens',
    tests: ['src/gateway/text/meter-usage.test.ts'],
  },
  {
    name: 'an estimated output is not cut to the worst case',
    file: 'src/gateway/text/meter-usage.ts',
    text: 'Math.min(Math.ceil(written * (produced.textsScale ?? 1)), outputTokensMax)',
    replacement: 'Math.ceil(written * (produced.textsScale ?? 1))',
    tests: ['src/gateway/text/meter-usage.test.ts'],
  },
  {
    name: 'the cost in an answer counts before the configured header',
    file: 'src/gateway/text/meter-usage.ts',
    text: 'return inHeader ?? produced.reportedCost',
    replacement: 'return produced.reportedCost ?? inHeader ?? null',
    tests: ['src/gateway/text/meter-usage.test.ts'],
  },
  {
    name: 'a JSON reply leaves before its charge is durable',
    file: 'src/gateway/text/run-text.ts',
    text: 'const cost = await settleText(admitted, attempt, { metered, price }, ports)',
    replacement:
      'const { cost } = price\n    settleText(admitted, attempt, { metered, price }, ports).catch(() => {})',
    tests: ['src/gateway/text/run-text.test.ts'],
  },
  {
    name: 'a write counts as done before its commit',
    file: 'src/stores/sqlite/group-commit.ts',
    text: 'this.#result = this.#step()',
    replacement: 'this.#outcome.resolve((this.#result = this.#step()))',
    tests: [LEDGER_TESTS],
  },
  {
    name: 'a reply names a cost that follows from an estimate',
    file: 'src/gateway/text/settle-text.ts',
    text: "return tariff === null ? !isCostUnreported : provenance === 'reported'",
    replacement: 'return tariff === null ? !isCostUnreported : provenance.length > 0',
    tests: ['test/scenarios/settlement.test.ts'],
  },
  {
    name: 'a balance that equals the worst case is refused',
    file: HOLD,
    text: 'amount === 0n || amount <= free',
    replacement: 'amount === 0n || amount < free',
    tests: [HOLD_TESTS],
  },
  {
    name: 'a job may cost more than its hold',
    file: HOLD,
    text: "if (shortfall > 0n && kind === 'media')",
    replacement: "if (shortfall < 0n && kind === 'media')",
    tests: [HOLD_TESTS],
  },
  {
    name: 'a capture gives the whole hold back',
    file: HOLD,
    text: "to: 'available', amount: nanoUsd(amount - covered) }",
    replacement: "to: 'available', amount }",
    tests: [HOLD_TESTS],
  },
  {
    name: 'a movement may be negative',
    file: 'src/domain/ledger/post.ts',
    text: 'if (amount < 0n) throw',
    replacement: 'if (amount < -(10n ** 30n)) throw',
    tests: ['src/domain/ledger/post.test.ts'],
  },
  {
    name: 'a balance may exceed 64 bits',
    file: 'src/domain/ledger/post.ts',
    text: 'if (balanceAfter > BALANCE_MAX || balanceAfter < BALANCE_MIN)',
    replacement: 'if (balanceAfter > BALANCE_MAX * 4n || balanceAfter < BALANCE_MIN * 4n)',
    tests: ['src/domain/ledger/post.test.ts'],
  },
  {
    name: 'a compensation comes out of promotions',
    file: 'src/domain/ledger/attempt.ts',
    text: "compensation: [{ from: 'losses', to: 'available', amount: cost }]",
    replacement: "compensation: [{ from: 'promotions', to: 'available', amount: cost }]",
    tests: [LEDGER_TESTS],
  },
  {
    name: 'an attempt is compensated again',
    file: 'src/stores/sqlite/compensations.ts',
    text: "if (row.state === 'compensated') return { cost, isFirst: false }",
    replacement: '',
    tests: [LEDGER_TESTS],
  },
  {
    name: 'an attempt can be billed again after it was closed',
    file: 'src/stores/sqlite/attempts.ts',
    text: `cost = ?, is_clamped = ?
      WHERE request_key = ? AND request_tail = ? AND number = ? AND state = 'timed_out'`,
    replacement: `cost = ?, is_clamped = ?
      WHERE request_key = ? AND request_tail = ? AND number = ?`,
    tests: ['src/stores/sqlite/attempts.test.ts'],
  },
  {
    name: 'an idempotency key is accepted for another credit',
    file: 'src/stores/sqlite/credits.ts',
    text: 'if (isSame(byKey, request)) return',
    replacement: 'if (byKey !== null) return',
    tests: [LEDGER_TESTS],
  },
  {
    name: 'a repeat of a charge with another cost is accepted',
    file: 'src/stores/sqlite/charges.ts',
    text: 'Number(row.account_id) !== accountId || row.cost !== cost',
    replacement: 'Number(row.account_id) !== accountId',
    tests: [LEDGER_TESTS],
  },
  {
    name: 'money that other requests hold counts as free',
    file: 'src/stores/sqlite/account-books.ts',
    text: 'return subtractUsd(this.current.balances.available, this.heldInMemory)',
    replacement: 'return this.current.balances.available',
    tests: [LEDGER_TESTS],
  },
  {
    name: 'a balance after a rollback keeps what was rolled back',
    file: 'src/stores/sqlite/account-books.ts',
    text: 'for (const books of this.#changed) books.staged = null',
    replacement: 'for (const books of this.#changed) books.committed = books.current',
    tests: [LEDGER_TESTS],
  },
  {
    name: 'a hold whose charge was rolled back is forgotten',
    file: TEXT_HOLDS,
    text: 'for (const { hold, before } of this.#ended) this.#holds.add(hold, before)',
    replacement: '',
    tests: [LEDGER_TESTS],
  },
  {
    name: 'a release takes the hold away from a charge that waits for its commit',
    file: TEXT_HOLDS,
    text: 'if (found.capturesWaiting > 0) return groupCommit.run(() => this.#endIfOpen(found))',
    replacement: '',
    tests: [LEDGER_TESTS],
  },
  {
    name: 'a hold expires while its charge waits for its commit',
    file: TEXT_HOLDS,
    text: 'if (!isDue || found.capturesWaiting > 0) return false',
    replacement: 'if (!isDue) return false',
    tests: [LEDGER_TESTS],
  },
  {
    name: 'a node renews the holds of other nodes',
    file: TEXT_HOLDS,
    text: 'if (hold.owner === owner.number) ',
    replacement: '',
    tests: [LEDGER_TESTS],
  },
  {
    name: 'a hold that ends keeps its money',
    file: 'src/stores/sqlite/open-text-holds.ts',
    text: "if (hold.state === 'open') hold.books.heldInMemory = subtractUsd(hold.books.heldInMemory, hold.amount)",
    replacement: '',
    tests: [LEDGER_TESTS],
  },
  {
    name: 'the hold of a job needs no money',
    file: 'src/stores/sqlite/media-holds.ts',
    text: 'if (!canHold(books.free, amount)) return refusalFor(books)',
    replacement: '',
    tests: [LEDGER_TESTS],
  },
  {
    name: 'the hold of a job expires like any other',
    file: 'src/stores/sqlite/media-holds.ts',
    text: 'job === undefined ? owner.expiresAtMs() : null',
    replacement: 'owner.expiresAtMs()',
    tests: [LEDGER_TESTS],
  },
  {
    name: 'a step that throws is kept with the steps before it',
    file: 'src/stores/sqlite/transactions.ts',
    text: `      if (thrown !== undefined) {
        this.#rollBack()
        return thrown
      }`,
    replacement: '',
    tests: ['src/stores/sqlite/group-commit.test.ts'],
  },
  {
    name: 'writes that wait are lost when the store closes',
    file: 'src/stores/sqlite/group-commit.ts',
    text: 'while (this.#waiting.length > 0) this.#commitBatch()',
    replacement: '',
    tests: ['src/stores/sqlite/group-commit.test.ts'],
  },
  {
    name: 'a hold that was placed for a client that left is never freed',
    file: QUEUE,
    text: "else if (outcome.outcome === 'held') await this.release(outcome.hold)",
    replacement: '',
    tests: [QUEUE_TESTS],
  },
  {
    name: 'a new request overtakes those that wait for money',
    file: QUEUE,
    text: 'request.amount === ZERO || !this.#lanes.has(request.accountId)',
    replacement: 'request.amount >= ZERO',
    tests: [QUEUE_TESTS],
  },
  {
    name: 'a request that can never fit waits',
    file: QUEUE,
    text: 'this.#settings.waitMs > 0 && available + held >= request.amount',
    replacement: 'this.#settings.waitMs > 0 && available + held >= ZERO',
    tests: [QUEUE_TESTS],
  },
  {
    name: 'a rollback does not undo what it added to the usage of a day',
    file: 'src/stores/sqlite/usage-days.ts',
    text: 'afterRollback: () => this.#staged.clear(),',
    replacement: 'afterRollback: () => undefined,',
    tests: ['src/stores/sqlite/usage-days.test.ts'],
  },
  {
    name: 'the usage of a part of a day is that of the whole day',
    file: 'src/stores/sqlite/usage-range.ts',
    text: 'part.fromMs === startOfDay(day) && part.toMs === startOfDay(day + 1)',
    replacement: 'part.fromMs >= startOfDay(day)',
    tests: ['src/stores/sqlite/usage-days.test.ts'],
  },
]
