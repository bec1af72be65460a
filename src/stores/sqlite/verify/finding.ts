import type { Problem } from '../../../gateway/ports/ledger.ts'

/** A problem that a check found. */
export type Finding = {
  /** The account whose books are wrong; null if it concerns all accounts. */
  readonly accountId: bigint | number | null
  /** The first wrong entry; null for a problem elsewhere. */
  readonly entryId: string | null
  readonly message: string
  /** True for a problem that is not in the books, and refuses no paid request. */
  readonly stopsNothing?: true
  /** Identifies the problem if the message has amounts that change with later operations. */
  readonly key?: string
}

const DIGITS = 12

/** The same problem has the same id in every check, so that the operator can accept it. */
export function problemFrom(finding: Finding, accepted: ReadonlySet<string>): Problem {
  const { accountId, entryId, message, stopsNothing, key = `${entryId} ${message}` } = finding
  const id = `p_${Bun.SHA256.hash(key, 'hex').slice(0, DIGITS)}`
  return {
    id,
    accountId: accountId === null ? null : Number(accountId),
    entryId,
    message,
    isAccepted: accepted.has(id),
    ...(stopsNothing === undefined ? {} : { stopsNothing }),
  }
}

/** A wrong stored balance and the next entry of its book, which is off by the same amount, are one problem. */
export function balanceKey(accountId: number, problem: string): string {
  return `balances ${accountId} ${problem}`
}
