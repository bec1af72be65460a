import type { Database } from 'bun:sqlite'
import { NO_HASH } from '../../books/commit-rows.ts'
import { hashedTables, type HashedTableDefinition } from '../../books/hashed-tables.ts'
import { ROW_ID_MIN } from '../../books/cursors.ts'
import type { AccountNames } from './account-names.ts'
import { CommitCheck, type Difference, type StoredCommit } from './commit-check.ts'
import { RowCursor, type HashedRow } from './row-cursor.ts'
import { accountOfRow, nameOfRow } from './row-names.ts'
import type { Finding } from './finding.ts'

const COMMITS_A_TURN = 32
const ROWS_A_TURN = 256

/**
 * Recomputes the hashes of all commits, node by node, from the rows that they cover. Finds every covered row that was
 * changed, inserted or deleted after its commit, unless all later hashes were recomputed too.
 */
export function* checkCommits(database: Database, names: AccountNames): Generator<readonly Finding[]> {
  const check = new CommitsCheck(database, names)
  while (check.readCommits()) {
    while (check.hasCommit()) yield check.continueCommit()
  }
  // In the same turn as the look for another commit, so these rows are of none.
  yield check.strayRows()
}

type Chain = { readonly number: number; readonly hash: Uint8Array }

class CommitsCheck {
  readonly #names: AccountNames
  readonly #select
  readonly #cursors: readonly RowCursor[]
  /** The last commit of each node. */
  readonly #chains = new Map<string, Chain>()
  #commits: CommitRow[] = []
  #lastId = ROW_ID_MIN
  /** The commit that is being checked, and the table that it is at. */
  #open:
    | { readonly commit: StoredCommit; readonly check: CommitCheck; readonly isFit: boolean; table: number }
    | undefined

  constructor(database: Database, names: AccountNames) {
    this.#names = names
    this.#select = database.prepare<CommitRow, [bigint, number]>(SELECT)
    this.#cursors = hashedTables.map(table => new RowCursor(database, table))
  }

  /** False if there is no other commit. */
  readCommits(): boolean {
    this.#commits = this.#select.all(this.#lastId, COMMITS_A_TURN)
    this.#lastId = this.#commits.at(-1)?.id ?? this.#lastId
    return this.#commits.length > 0
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
    let rows = 0
    for (const cursor of this.#cursors.slice(this.#open.table)) {
      for (
        let row = this.#next(cursor, commit, problems);
        row !== undefined;
        row = this.#next(cursor, commit, problems)
      ) {
        check.add(row)
        cursor.take()
        rows += 1
        if (rows === ROWS_A_TURN) return problems
      }
      check.endTable(cursor.table)
      this.#open.table += 1
    }
    this.#open = undefined
    const { isHashRight, areChecksumsRight, differences } = check.end()
    const isRight = isFit && areChecksumsRight && differences.length === 0
    return [...problems, ...this.#problemsOf(commit, { isHashRight, isRight, differences })]
  }

  /** The rows that are left after the last commit. */
  strayRows(): readonly Finding[] {
    return this.#cursors.flatMap(cursor => {
      const row = cursor.peek()
      return row === undefined ? [] : [this.#stray(cursor.table, row)]
    })
  }

  #openNext(problems: Finding[]) {
    const row = this.#commits.shift()
    if (row === undefined) return undefined
    const { id, checksums, hash } = row
    const node = row.name ?? `${row.node_id}`
    const chain = this.#chains.get(node) ?? { number: 0, hash: NO_HASH }
    const number = Number(row.number)
    if (number !== chain.number + 1)
      problems.push(finding(`Commit ${chain.number + 1} of node "${node}" is missing.`))
    this.#chains.set(node, { number, hash })
    // The commits of migrations have no checksums, and can cover very many rows.
    const isOfMigration = id <= 0n
    const isFit = (checksums === null) === isOfMigration
    const known = isOfMigration ? null : checksums
    const commit = { id, node, number, previous: chain.hash, checksums: known, hash }
    return { commit, check: new CommitCheck(commit), isFit, table: 0 }
  }

  /** The next row of the commit. Reports and skips rows that are out of place. */
  #next(cursor: RowCursor, { id }: StoredCommit, problems: Finding[]): HashedRow | undefined {
    for (;;) {
      const row = cursor.peek()
      if (row === undefined || row.commitId === id) return row
      // Rows are appended, so the commits of a table never step back.
      const after = cursor.peek(1)
      const isInPlace = row.commitId > id && (after === undefined || after.commitId >= row.commitId)
      if (isInPlace) return undefined
      problems.push(this.#stray(cursor.table, row))
      cursor.take()
    }
  }

  #problemsOf(
    commit: StoredCommit,
    {
      isHashRight,
      isRight,
      differences,
    }: {
      readonly isHashRight: boolean
      /** Whether the stored checksums are those of the rows. */
      readonly isRight: boolean
      readonly differences: readonly Difference[]
    },
  ): readonly Finding[] {
    const name = `commit ${commit.number} of node "${commit.node}"`
    if (isHashRight)
      return isRight ? [] : [finding(`The checksums of ${name} were changed; its rows were not.`)]
    if (differences.length > 0)
      return differences.map(difference =>
        finding(this.#describe(difference, name), this.#accountOf(difference)),
      )
    return commit.checksums === null
      ? [finding('A row that an earlier version wrote was changed, inserted or deleted after the upgrade.')]
      : [finding(`The hash of ${name} does not fit its rows and the commit before it.`)]
  }

  #describe({ table, row, kind }: Difference, commit: string): string {
    const name = row === undefined ? undefined : nameOfRow(table, row, this.#names)
    if (kind === 'missing') {
      const place = name === undefined ? '' : ` The missing row was before this one: ${name}.`
      return `A row that ${commit} wrote into "${table.name}" is missing.${place}`
    }
    return kind === 'changed'
      ? `${name} was changed after ${commit} wrote it.`
      : `${name} was inserted: ${commit} did not write it.`
  }

  /** A missing row can be of any account. */
  #accountOf({ table, row, kind }: Difference): bigint | null {
    return row === undefined || kind === 'missing' ? null : accountOfRow(table, row, this.#names)
  }

  #stray(table: HashedTableDefinition, row: HashedRow): Finding {
    const name = nameOfRow(table, row, this.#names)
    const message = `${name} was inserted: it names commit row ${row.commitId}, which did not write it.`
    return finding(message, accountOfRow(table, row, this.#names))
  }
}

/** Without an account, it concerns all accounts. */
function finding(message: string, accountId: bigint | null = null): Finding {
  return { accountId, entryId: null, message }
}

const SELECT = `SELECT commits.id, node_id, number, checksums, hash, name
  FROM commits LEFT JOIN nodes ON nodes.id = node_id WHERE commits.id > ? ORDER BY commits.id LIMIT ?`

type CommitRow = {
  id: bigint
  node_id: bigint
  number: bigint
  checksums: Uint8Array | null
  hash: Uint8Array
  /** Null if the node is missing. */
  name: string | null
}
