import type { Affected, Problem } from '../../../gateway/ports/ledger/ledger.ts'
import type { HashText } from '../jobs/job-facts.ts'

/** More problems would not help the operator. */
const PROBLEMS_MAX = 100
/** Each damaged result is the charge of another customer, so that the operator needs all of them. */
const BESIDE_BOOKS_MAX = 1000
/** Digits of a SHA-256 that the id of a problem has. */
const ID_DIGITS = 12

/** A text for the operator. The names of accounts and jobs, which are in other rows, are put in last. */
export type Message = readonly (string | { readonly account: bigint | number } | { readonly job: bigint })[]

/** A problem that a check found. */
export type Finding = {
  /** The account whose books are wrong, or the row of one of its jobs; null if it concerns all accounts. */
  readonly accountId: bigint | number | { readonly job: bigint } | null
  /** The first wrong entry; null for a problem elsewhere. */
  readonly entryId: string | null
  readonly message: Message
  /** True for a problem that is not in the books, and refuses no paid request. */
  readonly stopsNothing?: true
  /** Identifies the problem if the message has amounts that change with later operations. */
  readonly key?: Message
}

/** The names in messages. */
export interface Names {
  /** `Account "ada" (acct_…)`. */
  ofAccount(accountId: bigint | number): string
  /** `Account "ada" (acct_…): job img_…`, by the row of the job. */
  ofJob(rowId: bigint): string
  /** Null if there is no such job. */
  accountOfJob(rowId: bigint): bigint | null
}

/** A problem of an account. `text` is a sentence without its end, such as `hold hold_… has no charge`. */
export function findingOf(accountId: bigint | number, text: string): Finding {
  return { accountId, entryId: null, message: [{ account: accountId }, `: ${text}.`] }
}

/** A wrong stored balance and the next entry of its book, which is off by the same amount, are one problem. */
export function balanceKey(accountId: number, problem: string): Message {
  return [`balances ${accountId} ${problem}`]
}

/** Collects the problems of a check. The same problem has the same id in every check. */
export class FoundProblems {
  readonly #names: Names
  readonly #sha256Of: HashText
  /** The ids of the problems that the operator accepted. */
  readonly #accepted: ReadonlySet<string>
  readonly #ofBooks: Problem[] = []
  readonly #besideBooks: Problem[] = []
  #isEverything = false
  readonly #accounts = new Set<number>()

  constructor(parts: {
    readonly names: Names
    readonly sha256Of: HashText
    readonly accepted: ReadonlySet<string>
  }) {
    this.#names = parts.names
    this.#sha256Of = parts.sha256Of
    this.#accepted = parts.accepted
  }

  get problems(): readonly Problem[] {
    return [...this.#ofBooks, ...this.#besideBooks]
  }

  /** The accounts whose books have a problem that the operator did not accept. */
  get affected(): Affected {
    return this.#isEverything ? 'everything' : [...this.#accounts]
  }

  add(findings: readonly Finding[]): void {
    for (const finding of findings) {
      const problem = this.#problemFrom(finding)
      if (problem.stopsNothing) {
        if (this.#besideBooks.length < BESIDE_BOOKS_MAX) this.#besideBooks.push(problem)
        continue
      }
      if (!problem.isAccepted) this.#stop(problem)
      if (this.#ofBooks.length < PROBLEMS_MAX) this.#ofBooks.push(problem)
    }
  }

  #stop({ accountId }: Problem): void {
    if (accountId === null) this.#isEverything = true
    else this.#accounts.add(accountId)
  }

  #problemFrom({ accountId, entryId, stopsNothing, ...finding }: Finding): Problem {
    const message = this.#resolved(finding.message)
    const key = finding.key === undefined ? `${entryId} ${message}` : this.#resolved(finding.key)
    const id = `p_${this.#sha256Of(key).slice(0, ID_DIGITS)}`
    const ofAccount =
      typeof accountId === 'object' && accountId !== null
        ? this.#names.accountOfJob(accountId.job)
        : accountId
    return {
      id,
      accountId: ofAccount === null ? null : Number(ofAccount),
      entryId,
      message,
      isAccepted: this.#accepted.has(id),
      ...(stopsNothing === undefined ? {} : { stopsNothing }),
    }
  }

  #resolved(message: Message): string {
    return message
      .map(part => {
        if (typeof part === 'string') return part
        return 'job' in part ? this.#names.ofJob(part.job) : this.#names.ofAccount(part.account)
      })
      .join('')
  }
}
