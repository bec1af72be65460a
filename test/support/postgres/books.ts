import type { SQL } from 'bun'
import { keyOf, selectCovered } from '../../../src/stores/books/rows/hashed-table.ts'
import type { SqlValue } from '../../../src/stores/books/rows/canonical.ts'
import { CommitsCheck, type CommitRow } from '../../../src/stores/books/verify/rules/commit-chain-rules.ts'
import { bunHashes } from '../../../src/stores/postgres/lanes/lane.ts'
import type { NanoUsd } from '../../../src/domain/money.ts'

/** A new account with funds that no commit covers. Its id. */
export async function anAccountIn(sql: SQL, funds: NanoUsd): Promise<number> {
  const name = crypto.randomUUID()
  const [row] = await sql<
    { id: bigint }[]
  >`INSERT INTO accounts (public_id, name, sandbox_only, created_at_ms, commit_id)
    VALUES (${`acct_${name}`}, ${name}, 0, 0, 0) RETURNING id`
  await sql`INSERT INTO balances (account_id, available, cash) VALUES (${row!.id}, ${funds}, ${0n - funds})`
  return Number(row!.id)
}

/** A new API key of an account that no commit covers. Its id. */
export async function aKeyIn(sql: SQL, accountId: number, projectId?: number): Promise<number> {
  const name = crypto.randomUUID()
  const hash = crypto.getRandomValues(new Uint8Array(32))
  const [row] = await sql<{ id: bigint }[]>`
    INSERT INTO api_keys (public_id, account_id, name, hash, prefix, created_at_ms, commit_id, project_id)
      VALUES (${name}, ${accountId}, ${name}, ${hash}, 'tg', 0, 0, ${projectId ?? null}) RETURNING id`
  return Number(row!.id)
}

/** What is wrong with the books, whose nodes have all stored their last commits. */
export async function problemsOf(sql: SQL): Promise<readonly string[]> {
  return [...(await problemsOfCommits(sql)), ...(await problemsOfSums(sql))]
}

async function problemsOfCommits(sql: SQL): Promise<readonly string[]> {
  const check = new CommitsCheck(bunHashes)
  for (const rows of check.tables)
    rows.add(
      (await sql
        .unsafe(`${selectCovered(rows.table)} WHERE commit_id > 0 ORDER BY commit_id, ${keyOf(rows.table)}`)
        .values()) as SqlValue[][],
    )
  check.add([
    ...(await sql<CommitRow[]>`SELECT commits.id, node_id, number, checksums, hash, name FROM commits
      JOIN nodes ON nodes.id = node_id ORDER BY commits.id`),
  ])
  const findings = []
  while (check.hasCommit()) findings.push(...check.continueCommit())
  return [...findings, ...check.strayRows()].map(({ message }) => Bun.inspect(message))
}

/** Compares sums that are stored with the rows that they are made of. Each query selects what differs. */
async function problemsOfSums(sql: SQL): Promise<readonly string[]> {
  const problems: string[] = []
  for (const [name, query] of Object.entries(differences)) {
    const rows: readonly object[] = await sql.unsafe(query)
    problems.push(...rows.map(row => `${name}: ${Bun.inspect(row)}`))
  }
  return problems
}

const differences = {
  reserved: `SELECT account_id, reserved, open FROM balances LEFT JOIN (
      SELECT account_id, sum(amount) AS open FROM text_holds WHERE expired_at_ms IS NULL GROUP BY account_id
    ) AS holds USING (account_id) WHERE reserved <> coalesce(open, 0)`,
  revenue: `SELECT account_id, revenue_text, charged, available, cash FROM balances LEFT JOIN (
      SELECT account_id, sum(cost) AS charged FROM charges GROUP BY account_id
    ) AS charges USING (account_id)
    WHERE revenue_text <> coalesce(charged, 0) OR available + revenue_text + cash <> 0`,
  days: `SELECT * FROM (
      SELECT account_id, sum(cost) AS cost, count(*) AS charges, max(id) AS latest FROM charges GROUP BY account_id
    ) AS charged FULL JOIN (
      SELECT account_id, sum(cost) AS cost, sum(charges) AS charges, max(latest_charge_id) AS latest
        FROM usage_days GROUP BY account_id
    ) AS days USING (account_id, cost, charges, latest) WHERE charged.account_id IS NULL OR days.account_id IS NULL`,
  operations: `SELECT * FROM (
      SELECT account_id, id, number, previous_id, balance_after_1, sum(amount_1) OVER account AS moved,
          lag(id) OVER account AS previous, row_number() OVER account AS counted
        FROM operations WINDOW account AS (PARTITION BY account_id ORDER BY number)
    ) AS operation JOIN balances USING (account_id)
    WHERE number <> counted OR previous_id IS DISTINCT FROM previous OR balance_after_1 <> moved - cash
      OR (number = operation_count AND latest_operation_id <> id) OR number > operation_count`,
  charges: `WITH RECURSIVE chain AS (
      SELECT account_id, latest_charge_id AS id, 0 AS length FROM balances
      UNION ALL
      SELECT chain.account_id, charges.previous_id, length + 1 FROM chain JOIN charges ON charges.id = chain.id
    )
    SELECT account_id, max(length) AS length, count(charges.id) AS charges FROM chain
      LEFT JOIN charges USING (account_id) WHERE chain.id IS NULL GROUP BY account_id
      HAVING max(length) <> count(charges.id)`,
}
