import { Counter, Gauge, type Registry } from 'prom-client'

/** Functions that are called when the metrics are read. */
export type BooksGauges = {
  /** The number of writes of the anchor that failed. */
  readonly anchorFailures: () => number
  /** Whether no account may start paid work, because of a problem in the books. */
  readonly isStopped: () => boolean
  /** The number of accounts that may not start paid work, because of a problem in their own books. */
  readonly stoppedAccounts: () => number
}

/** Metrics of problems that stop paid requests. */
export function registerBooksGauges(gauges: BooksGauges, registry: Registry): void {
  const registers = [registry]
  const anchorFailures = new Counter({
    name: 'tollgate_anchor_write_failures_total',
    help: 'Writes of the anchor file that failed. Each is tried again after a second.',
    registers,
    collect() {
      this.reset()
      this.inc(gauges.anchorFailures())
    },
  })
  const isStopped = new Gauge({
    name: 'tollgate_books_stopped',
    help: '1 while all paid requests are refused because of a problem in the books.',
    registers,
    collect() {
      this.set(gauges.isStopped() ? 1 : 0)
    },
  })
  const stoppedAccounts = new Gauge({
    name: 'tollgate_stopped_accounts',
    help: 'Accounts whose paid requests are refused because of a problem in their books.',
    registers,
    collect() {
      this.set(gauges.stoppedAccounts())
    },
  })
  void [anchorFailures, isStopped, stoppedAccounts]
}
