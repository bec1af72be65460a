import { expect, test } from 'bun:test'
import { bunHashes } from '../../../sqlite/commits/hashes.ts'
import type { SqlValue } from '../../rows/canonical.ts'
import { CommitRows, NO_HASH } from '../../rows/commit-rows.ts'
import { formOf } from '../../rows/hashed-table.ts'
import { tariffsTable } from '../../rows/money-tables.ts'
import { CommitsCheck, ROWS_NEEDED, type CommitRow } from './commit-chain-rules.ts'

/** A row of the smallest hashed table: its id, its content and the id of its commit. */
function tariff(id: number, commit: number, content = `{"input":"${id}"}`): readonly SqlValue[] {
  return [BigInt(id), content, BigInt(commit)]
}

/** The commits that write these rows, one for each list, as one node. */
function commitsOf(...written: readonly (readonly (readonly SqlValue[])[])[]): readonly CommitRow[] {
  let previous: Uint8Array = NO_HASH
  return written.map((rows, index) => {
    const covered = new CommitRows(bunHashes)
    for (const row of rows) covered.add(tariffsTable.tag, formOf(tariffsTable, row))
    const number = index + 1
    const hash = covered.hash({ previous, node: 'main', number })
    previous = hash
    const id = BigInt(number)
    return { id, node_id: 1n, number: id, checksums: covered.checksums(), hash, name: 'main' }
  })
}

/** All problems, if each part of the check gets as many rows as it needs. */
function problemsOf(
  commits: readonly CommitRow[],
  rows: readonly (readonly SqlValue[])[],
): readonly string[] {
  const check = new CommitsCheck(bunHashes)
  const tariffs = check.tables.find(({ table }) => table.name === 'tariffs')!
  let read = 0
  const readMore = () => {
    if (tariffs.count >= ROWS_NEEDED) return
    tariffs.add(rows.slice(read, read + ROWS_NEEDED))
    read += ROWS_NEEDED
  }
  check.add(commits)
  const findings = []
  while (check.hasCommit()) {
    readMore()
    findings.push(...check.continueCommit())
  }
  readMore()
  return [...findings, ...check.strayRows()].map(({ message }) =>
    message.filter(part => typeof part === 'string').join(''),
  )
}

const first = tariff(1, 1)
const second = tariff(2, 2)

test('rows as their commits wrote them are sound', () => {
  expect(problemsOf(commitsOf([first], [second]), [first, second])).toEqual([])
})

test('a commit with more rows than one part of the check is sound', () => {
  const rows = Array.from({ length: 3 * ROWS_NEEDED }, (_, index) => tariff(index + 1, 1))

  expect(problemsOf(commitsOf(rows), rows)).toEqual([])
})

test.each<[string, readonly (readonly SqlValue[])[], string]>([
  ['was changed', [tariff(1, 1, '{}'), second], 'Tariff 1 was changed after commit 1'],
  ['was deleted', [second], 'A row that commit 1 of node "main" wrote into "tariffs" is missing.'],
  ['was inserted into a commit', [first, tariff(3, 1), second], 'Tariff 3 was inserted: commit 1'],
  [
    'was inserted after all commits',
    [first, second, tariff(3, 9)],
    'Tariff 3 was inserted: it names commit row 9',
  ],
  [
    'was inserted between commits',
    [first, tariff(3, 9), second],
    'Tariff 3 was inserted: it names commit row 9',
  ],
])('a row that %s is named', (_, rows, problem) => {
  const problems = problemsOf(commitsOf([first], [second]), rows)

  expect(problems).toHaveLength(1)
  expect(problems[0]).toStartWith(problem)
})

test('more stray rows than one part of the check takes are all named', () => {
  const strays = Array.from({ length: 2 * ROWS_NEEDED }, (_, index) => tariff(index + 10, 0))

  const problems = problemsOf(commitsOf([first], [second]), [first, ...strays, second])

  expect(problems).toHaveLength(strays.length)
})

test('a missing commit breaks the chain of its node', () => {
  const [, later] = commitsOf([first], [second]) as [CommitRow, CommitRow]

  expect(problemsOf([later], [second])).toEqual([
    'Commit 1 of node "main" is missing.',
    'The hash of commit 2 of node "main" does not fit its rows and the commit before it.',
  ])
})
