import { NO_HASH, type Hashes } from '../../rows/commit-rows.ts'
import { hashedTables } from '../../rows/hashed-tables.ts'
import type { HashedTableDefinition } from '../../rows/hashed-table.ts'
import { CommitCheck, isSame, type Difference, type StoredCommit } from './commit-rules.ts'
import { CoveredRows, type HashedRow } from './covered-rows.ts'
import type { Finding, Message } from '../findings.ts'
import { accountOfRow, nameOfRow } from './row-names.ts'

/** Rows checked at once. */
const ROWS_MAX = 256
/** Before each part of the check, each table needs this many rows, unless it has no more: one more is looked at. */
export const ROWS_NEEDED = ROWS_MAX + 1

/** A stored commit with the name of its node. */
export type CommitRow = {
  id: bigint
  node_id: bigint
  number: bigint
  checksums: Uint8Array | null
  hash: Uint8Array
  /** Null if the node is missing. */
  name: string | null
}

/** The last commit of a node, as it is stored beside the commits. */
export type ChainEnd = { name: string; number: bigint; hash: Uint8Array }

type Chain = { readonly number: number; readonly hash: Uint8Array }

const NO_CHAIN: Chain = { number: 0, hash: NO_HASH }

/**
 * Recomputes the hashes of all commits, node by node, from the rows that they cover. Finds every covered row that was
 * changed, inserted or deleted after its commit, unless all later hashes were recomputed too.
 */
export class CommitsCheck {
  /** The rows of each hashed table. */
  readonly tables: readonly CoveredRows[] = hashedTables.map(table => new CoveredRows(table))
  readonly #hashes: Hashes
  /** The last commit of each node. */
  readonly #chains = new Map<string, Chain>()
  #commits: CommitRow[] = []
  /** The commit that is being checked, and the table that it is at. */
  #open:
    | { readonly commit: StoredCommit; readonly check: CommitCheck; readonly isFit: boolean; table: number }
    | undefined

  constructor(hashes: Hashes) {
    this.#hashes = hashes
  }

  /** Goes on after the last commits that an earlier check has read. */
  goOn(ends: readonly ChainEnd[]): void {
    for (const { name, number, hash } of ends) this.#chains.set(name, { number: Number(number), hash })
  }

  /** Adds the next commits. Rows are read after their commits, so that no row of them is missing. */
  add(commits: readonly CommitRow[]): void {
    this.#commits.push(...commits)
  }

  hasCommit(): boolean {
    return this.#open !== undefined || this.#commits.length > 0
  }

  /** Checks one commit, or a part of it that has many rows. */
  continueCommit(): readonly Finding[] {
    const problems: Finding[] = []
    this.#open ??= this.#openNext(problems)
    if (this.#open === undefined) return problems
    const { commit, check, isFit } = this.#open
    let count = 0
    for (const rows of this.tables.slice(this.#open.table)) {
      for (let row = rows.peek(); row !== undefined; row = rows.peek()) {
        if (row.commitId === commit.id) check.add(row)
        else if (isLater(rows, commit)) break
        else problems.push(strayRow(rows.table, row))
        rows.take()
        count += 1
        if (count === ROWS_MAX) return problems
      }
      check.endTable(rows.table)
      this.#open.table += 1
    }
    this.#open = undefined
    const { isHashRight, areChecksumsRight, differences } = check.end()
    const isRight = isFit && areChecksumsRight && differences.length === 0
    return [...problems, ...problemsOfCommit(commit, { isHashRight, isRight, differences })]
  }

  /** The rows that are left after the last commit. */
  strayRows(): readonly Finding[] {
    return this.tables.flatMap(rows => {
      const row = rows.peek()
      return row === undefined ? [] : [strayRow(rows.table, row)]
    })
  }

  /** After the last commit: what the nodes say about their last commits. */
  findingsOfEnds(ends: readonly ChainEnd[]): readonly Finding[] {
    return ends.flatMap(({ name, number, hash }) => {
      const last = this.#chains.get(name) ?? NO_CHAIN
      if (last.number === Number(number) && isSame(last.hash, hash)) return []
      const text = `The last commit of node "${name}" is commit ${last.number}, but the node wrote another one as commit ${number}.`
      return [findingOfCommit([text])]
    })
  }

  #openNext(problems: Finding[]) {
    const row = this.#commits.shift()
    if (row === undefined) return undefined
    const { id, checksums, hash } = row
    const node = row.name ?? `${row.node_id}`
    const chain = this.#chains.get(node) ?? NO_CHAIN
    const number = Number(row.number)
    if (number !== chain.number + 1)
      problems.push(findingOfCommit([`Commit ${chain.number + 1} of node "${node}" is missing.`]))
    this.#chains.set(node, { number, hash })
    // The commits of migrations have no checksums, and can cover very many rows.
    const isOfMigration = id <= 0n
    const isFit = (checksums === null) === isOfMigration
    const known = isOfMigration ? null : checksums
    const commit = { id, node, number, previous: chain.hash, checksums: known, hash }
    return { commit, check: new CommitCheck(commit, this.#hashes), isFit, table: 0 }
  }
}

/**
 * Rows are appended, so the commits of a table never step back: the next row belongs to a later commit, or is stray.
 */
function isLater(rows: CoveredRows, { id }: StoredCommit): boolean {
  const [row, after] = [rows.peek(), rows.peek(1)]
  return row !== undefined && row.commitId > id && (after === undefined || after.commitId >= row.commitId)
}

function problemsOfCommit(
  commit: StoredCommit,
  found: {
    readonly isHashRight: boolean
    /** Whether the stored checksums are those of the rows. */
    readonly isRight: boolean
    readonly differences: readonly Difference[]
  },
): readonly Finding[] {
  const { isHashRight, isRight, differences } = found
  const name = `commit ${commit.number} of node "${commit.node}"`
  if (isHashRight)
    return isRight ? [] : [findingOfCommit([`The checksums of ${name} were changed; its rows were not.`])]
  if (differences.length > 0)
    return differences.map(difference =>
      findingOfCommit(describeDifference(difference, name), accountOfDifference(difference)),
    )
  const text =
    commit.checksums === null
      ? 'A row that an earlier version wrote was changed, inserted or deleted after the upgrade.'
      : `The hash of ${name} does not fit its rows and the commit before it.`
  return [findingOfCommit([text])]
}

function describeDifference({ table, row, kind }: Difference, commit: string): Message {
  const name = row === undefined ? undefined : nameOfRow(table, row)
  if (kind === 'missing') {
    const place = name === undefined ? [] : [' The missing row was before this one: ', ...name, '.']
    return [`A row that ${commit} wrote into "${table.name}" is missing.`, ...place]
  }
  const change =
    kind === 'changed'
      ? ` was changed after ${commit} wrote it.`
      : ` was inserted: ${commit} did not write it.`
  return [...(name ?? []), change]
}

/** A missing row can be of any account. */
function accountOfDifference({ table, row, kind }: Difference): Finding['accountId'] {
  return row === undefined || kind === 'missing' ? null : accountOfRow(table, row)
}

function strayRow(table: HashedTableDefinition, row: HashedRow): Finding {
  const text = ` was inserted: it names commit row ${row.commitId}, which did not write it.`
  return findingOfCommit([...nameOfRow(table, row), text], accountOfRow(table, row))
}

/** Without an account, it concerns all accounts. */
function findingOfCommit(message: Message, accountId: Finding['accountId'] = null): Finding {
  return { accountId, entryId: null, message }
}
