import { formatId } from '../../../domain/ids.ts'
import { jobIdPrefix, type JobKind } from '../../../domain/jobs/job.ts'
import { verifiedParts, type VerifiedPart } from '../../../gateway/ports/ledger/ledger.ts'
import type { Hashes } from '../rows/commit-rows.ts'
import type { HashText } from '../jobs/job-facts.ts'
import { all, first, type StepRunner, type Step } from '../steps.ts'
import { checkCatalog } from './check-catalog.ts'
import { checkJobKeys, checkJobs } from './read-jobs.ts'
import { checkLimits } from './read-limits.ts'
import { checkAttempts, checkCorrections, checkHolds } from './read-money-rows.ts'
import { checkSwitches } from './read-switches.ts'
import { FoundProblems, type Finding, type Names } from './findings.ts'

/** The action of the audit lines by which the operator accepts problems. */
const ACCEPTED = 'books.accept'

/** Finds problems in pieces, which may be empty. */
export type Check = AsyncIterable<readonly Finding[]>

/** Checks by the part of the books that they read, in their order. */
export type Checks = Readonly<Partial<Record<VerifiedPart, Check>>>

/** The functions that a check of the books reads with. */
export type Reader = {
  /** All that one step reads is of the same moment. */
  readonly read: StepRunner['read']
  readonly sha256Of: HashText
  readonly hashes: Pick<Hashes, 'newSha256'>
}

/** The checks that both stores make alike: those of rows whose ids grow in both. */
export function checksOfRows({ read, sha256Of, hashes }: Reader) {
  return {
    holds: checkHolds(read),
    attempts: checkAttempts(read),
    jobs: checkJobs(read, sha256Of),
    job_keys: checkJobKeys(read, sha256Of),
    corrections: checkCorrections(read),
    switches: checkSwitches(read),
    limits: checkLimits(read),
    catalog: checkCatalog(read, hashes),
  } satisfies Checks
}

/** Called when the check of a part begins. */
export type OnPart = (part: VerifiedPart) => void

/** The problems of a verification, which are found by one check after the other. */
export class Verifying {
  readonly #names = new StoredNames()
  readonly #found: FoundProblems
  readonly #onPart: OnPart

  private constructor(sha256Of: HashText, accepted: ReadonlySet<string>, onPart: OnPart) {
    this.#onPart = onPart
    this.#found = new FoundProblems({ names: this.#names, sha256Of, accepted })
  }

  static async begin(
    { read, sha256Of }: Pick<Reader, 'read' | 'sha256Of'>,
    onPart: OnPart = () => {},
  ): Promise<Verifying> {
    return new Verifying(sha256Of, await read(acceptedProblems), onPart)
  }

  get found(): Pick<FoundProblems, 'problems' | 'affected'> {
    return this.#found
  }

  /** Adds what checks find. `read` finds the names in their messages. */
  async add(checks: Checks, read: StepRunner['read']): Promise<void> {
    for (const part of verifiedParts) {
      const check = checks[part]
      if (check === undefined) continue
      this.#onPart(part)
      for await (const findings of check) {
        if (findings.length === 0) continue
        await read(() => this.#names.load(findings))
        this.#found.add(findings)
      }
    }
  }
}

/** The ids of the problems that the operator accepted. */
function* acceptedProblems(): Step<ReadonlySet<string>> {
  const rows = yield* all<{ subject: string }>(
    'SELECT subject FROM audit_log WHERE action = ? ORDER BY id',
    ACCEPTED,
  )
  return new Set(rows.map(({ subject }) => subject))
}

type NamedAccount = { name: string; public_id: string }
type NamedJob = { account_id: bigint; kind: JobKind; id_key: bigint; id_tail: bigint }

/** Names accounts and their jobs in messages for the operator: `Account "ada" (acct_…)`. */
class StoredNames implements Names {
  /** Undefined if there is no such account or job. */
  readonly #accounts = new Map<bigint, NamedAccount | undefined>()
  readonly #jobs = new Map<bigint, NamedJob | undefined>();

  /** Reads the names that the messages of findings need. */
  *load(findings: readonly Finding[]): Step<void> {
    for (const { accountId, message, key = [] } of findings) {
      if (typeof accountId === 'object' && accountId !== null) yield* this.#loadJob(accountId.job)
      for (const part of [...message, ...key]) {
        if (typeof part === 'string') continue
        if ('job' in part) yield* this.#loadJob(part.job)
        else yield* this.#loadAccount(BigInt(part.account))
      }
    }
  }

  ofAccount(accountId: bigint | number): string {
    const row = this.#accounts.get(BigInt(accountId))
    return row === undefined ? `Account ${accountId} (deleted)` : `Account "${row.name}" (${row.public_id})`
  }

  accountOfJob(rowId: bigint): bigint | null {
    return this.#jobs.get(rowId)?.account_id ?? null
  }

  ofJob(rowId: bigint): string {
    const row = this.#jobs.get(rowId)
    if (row === undefined) return `Job ${rowId} (deleted)`
    const id = formatId(jobIdPrefix[row.kind], { key: row.id_key, tail: row.id_tail })
    return `${this.ofAccount(row.account_id)}: job ${id}`
  }

  *#loadAccount(id: bigint): Step<void> {
    if (this.#accounts.has(id)) return
    this.#accounts.set(
      id,
      yield* first<NamedAccount>('SELECT name, public_id FROM accounts WHERE id = ?', id),
    )
  }

  *#loadJob(rowId: bigint): Step<void> {
    if (this.#jobs.has(rowId)) return
    const job = yield* first<NamedJob>(
      'SELECT account_id, kind, id_key, id_tail FROM jobs WHERE row_id = ?',
      rowId,
    )
    this.#jobs.set(rowId, job)
    if (job !== undefined) yield* this.#loadAccount(job.account_id)
  }
}
