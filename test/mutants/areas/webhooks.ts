import type { Mutant } from '../mutant.ts'

const BUDGETS = 'src/domain/webhooks/budget-alert.ts'
const PROVIDERS = 'src/domain/webhooks/provider-alert.ts'
const RECEIVERS = 'src/stores/books/events/receivers.ts'
const ALERTS = 'src/stores/books/events/alerts.ts'
const STORE_TESTS = 'src/stores/books/events/webhooks.test.ts'
const TURNS = 'src/reconciler/delivery-turns.ts'
const WATCHER_TESTS = 'src/reconciler/tell-events.test.ts'

/** Faults in what webhooks are told, and in who is told. */
export const webhookMutants: readonly Mutant[] = [
  {
    name: 'a charge forgets what was told of its period',
    file: 'src/domain/limits/periods.ts',
    text: 'spent: addUsd(current.spent, cost), spentBefore, told }',
    replacement: 'spent: addUsd(current.spent, cost), spentBefore, told: NOTHING_TOLD }',
    tests: ['src/domain/limits/periods.test.ts'],
  },
  {
    name: 'a budget is told as reached by a refusal that running requests cause',
    file: BUDGETS,
    text: "refusal?.limit === 'budget' && !refusal.isReserved ?",
    replacement: "refusal?.limit === 'budget' ?",
    tests: [STORE_TESTS],
  },
  {
    name: 'what was told of a budget is not undone by a rollback',
    file: 'src/stores/sqlite/limits/limit-steps.ts',
    text: 'this.#set(live, withNews(live.usage, news))',
    replacement: 'live.usage = withNews(live.usage, news)\n      this.#before.delete(live)',
    tests: [STORE_TESTS],
  },
  {
    name: 'webhooks of all accounts are told of an event of one',
    file: RECEIVERS,
    text: '.flatMap(owner => webhooks.get(owner) ?? [])',
    replacement: '.flatMap(() => [...webhooks.values()].flat())',
    tests: [STORE_TESTS],
  },
  {
    name: 'a webhook that another node switches off is told of an event',
    file: 'src/stores/postgres/receivers.ts',
    text: "yield* takeLock('events')",
    replacement: '',
    tests: ['src/stores/postgres/receivers.test.ts'],
  },
  {
    name: 'nodes together put more messages into a queue than it may have',
    file: 'src/stores/postgres/receivers.ts',
    text: '>= QUEUE_MAX',
    replacement: '> QUEUE_MAX',
    tests: ['src/stores/postgres/receivers.test.ts'],
  },
  {
    name: 'a slow turn outlives its lease',
    file: 'src/reconciler/delivery-turns.ts',
    text: 'if (clock.monotonicMs() > endMs) return',
    replacement: '',
    tests: ['src/reconciler/deliver-webhooks.test.ts'],
  },
  {
    name: 'a revoked key is told to expire',
    file: ALERTS,
    text: 'AND revoked_at_ms IS NULL AND disabled_at_ms IS NULL',
    replacement: 'AND disabled_at_ms IS NULL',
    tests: [STORE_TESTS],
  },
  {
    name: 'a provider that was told to fail is told to have recovered at its first success',
    file: PROVIDERS,
    text: 'if (monotonicMs - sinceMs < RECOVERED_MS_MIN)',
    replacement: 'if (monotonicMs - sinceMs < 0)',
    tests: [WATCHER_TESTS],
  },
  {
    name: 'a receiver that failed is asked again at once',
    file: TURNS,
    text: "if (delivery === 'failed') return this.#rest(receiver)",
    replacement: "if (delivery === 'failed') return",
    tests: ['src/reconciler/deliver-webhooks.test.ts', 'src/reconciler/send-mails.test.ts'],
  },
  {
    name: 'a receiver is served by two nodes at the same time',
    file: TURNS,
    text: 'if (lease === undefined) return',
    replacement: '',
    tests: ['src/reconciler/deliver-webhooks.test.ts', 'src/reconciler/send-mails.test.ts'],
  },
  {
    name: 'the signature of a message has the time of the database',
    file: 'src/reconciler/deliver-webhooks.ts',
    text: 'nowMs: ownClock.now()',
    replacement: 'nowMs: ownClock.now() + 600_000',
    tests: ['src/reconciler/deliver-webhooks.test.ts'],
  },
]
