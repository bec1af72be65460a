import { afterEach, describe, expect, test } from 'bun:test'
import { problemsOf } from '../../../test/support/postgres/books.ts'
import { aDatabase } from '../../../test/support/postgres/databases.ts'
import { runServer } from '../../../test/support/postgres/run-server.ts'
import { aNode } from '../../../test/support/postgres/a-node.ts'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { rejection } from '../../../test/support/rejection.ts'
import type { Provider } from '../../domain/catalog/provider.ts'
import type { StepRunner } from '../books/steps.ts'
import { checkCatalog } from '../books/verify/check-catalog.ts'
import { checkSwitches } from '../books/verify/read-switches.ts'
import { connections } from './database/database.ts'
import { readStep } from './lanes/step-runner.ts'
import { bunHashes } from './lanes/lane.ts'

const server = await runServer()
const ends: (() => unknown)[] = []

afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

const ANOTHER_KEY = new Uint8Array(32).fill(8)

function aProvider(id: string): Provider {
  return {
    id,
    kind: 'openai-compatible',
    baseUrl: 'https://api.example.com/v1',
    secret: { from: 'literal', value: `sk-${id}` },
    headers: {},
    routes: ['chat'],
    maxTokensField: 'max_tokens',
    connectTimeoutMs: 5000,
    reusesConnections: true,
  }
}

const edit = (subject: string) => ({ actor: 'admin', action: 'provider.put', subject, atMs: 5 })

/** A database with two nodes. */
async function setUp() {
  const url = await aDatabase(server!)
  const reads = connections({ url }).openReads()
  ends.push(() => reads.close())
  const open = async (name: string, secretKey?: Uint8Array) => {
    const node = await aNode(url, name, fakeClock(), secretKey && { secretKey })
    ends.push(() => node.close())
    return node
  }
  const [one, other] = [await open('one'), await open('other')]
  const messages = async () => {
    const found: string[] = []
    const read: StepRunner['read'] = step => readStep(reads, step)
    for (const check of [checkCatalog(read, bunHashes), checkSwitches(read)])
      for await (const findings of check)
        found.push(...findings.map(({ message }) => message.map(String).join('')))
    return found
  }
  return { reads, open, one, other, messages }
}

describe.skipIf(server === undefined)('the catalog in PostgreSQL', () => {
  test('a node with another secret key does not start, and says which setting is wrong', async () => {
    const { open, reads } = await setUp()

    const refused = await rejection(open('third', ANOTHER_KEY))

    expect(refused).toMatchObject({
      message: expect.stringContaining('Set TOLLGATE_SECRET_KEY to the key of the other nodes.'),
    })
    const [lanes] = await reads<{ seen: bigint }[]>`SELECT count(*) AS seen FROM lanes WHERE seen_at_ms > 0`
    expect(lanes!.seen).toBe(2n)
  })

  test('a lost secret key can be replaced as the error says, and the keys of providers are then lost', async () => {
    const { one, other, open, reads } = await setUp()
    await one.catalog.putProvider(aProvider('main'), edit('main'))
    await one.close()
    await other.close()

    await reads`UPDATE catalog_state SET key_check = NULL`
    const { catalog } = await open('third', ANOTHER_KEY)

    expect(catalog.current().providers.get('main')?.secret).toEqual({ from: 'lost' })
    expect(await rejection(open('fourth'))).toBeInstanceOf(Error)
  })

  test('two nodes that edit the catalog at the same time lose no edit, and its history is sound', async () => {
    const { one, other, reads, messages } = await setUp()
    const ids = Array.from({ length: 20 }, (_, index) => `p${index}`)

    const edited = await Promise.all(
      ids.map((id, index) => [one, other][index % 2]!.catalog.putProvider(aProvider(id), edit(id))),
    )
    const refreshed = [await one.catalog.refresh(), await other.catalog.refresh()]

    expect(edited.map(({ revision }) => revision).sort((a, b) => a - b)).toEqual(
      ids.map((_, index) => index + 1),
    )
    for (const { providers } of refreshed) expect([...providers.keys()].sort()).toEqual(ids.toSorted())
    const history = await one.catalog.history({ limit: 100 })
    expect(history.flatMap(({ changes }) => changes.map(({ id }) => id)).sort()).toEqual(ids.toSorted())
    expect(await one.auditLog.list({ limit: 100 })).toHaveLength(20)
    expect(await messages()).toEqual([])
    expect(await problemsOf(reads)).toEqual([])
  })

  test('an edit on a node that has not seen the edits of another one is made on the newest catalog', async () => {
    const { one, other } = await setUp()
    await one.catalog.putProvider(aProvider('main'), edit('main'))

    const removed = await other.catalog.deleteProvider('main', edit('main'))

    expect(removed).toBe(true)
    expect((await one.catalog.refresh()).providers.size).toBe(0)
  })

  test.each([
    ['an earlier revision', []],
    ['a new revision with an earlier number', ['a']],
    ['another revision with the same number', ['a', 'b']],
  ])('after a failover that lost edits, a node follows the catalog to %s', async (_, edits) => {
    const { one, other, reads, open } = await setUp()
    for (const id of ['first', 'lost', 'lost-too']) await one.catalog.putProvider(aProvider(id), edit(id))
    await other.catalog.refresh()
    await one.close()

    // Only the first edit is there.
    await reads`DELETE FROM provider_versions WHERE revision > 1`
    await reads`DELETE FROM providers WHERE id <> 'first'`
    await reads`DELETE FROM catalog_revisions WHERE revision > 1`
    await reads`UPDATE catalog_state SET revision = 1`
    const next = await open('next')
    for (const [index, id] of edits.entries())
      await next.catalog.putProvider(aProvider(id), { ...edit(id), atMs: 6 + index })
    await other.catalog.refresh()

    expect([...other.catalog.current().providers.keys()]).toEqual(['first', ...edits])
    await other.catalog.putProvider(aProvider('last'), { ...edit('last'), atMs: 9 })
    expect([...other.catalog.current().providers.keys()]).toEqual(['first', ...edits, 'last'])
  })

  test.each([
    [`UPDATE providers SET content = replace(content, 'example', 'evil')`, 'Provider "main" is not what'],
    [`UPDATE provider_versions SET sealed_secret = NULL WHERE revision = 1`, 'Revision 1 of the catalog'],
    [`UPDATE catalog_revisions SET actor = 'x' WHERE revision = 2`, 'Revision 2 of the catalog was changed'],
    [`UPDATE catalog_state SET revision = 7`, 'The catalog is at revision 7, but its newest revision is 2'],
    [`DELETE FROM providers WHERE id = 'main'`, 'Provider "main" is missing'],
    [`INSERT INTO catalog_revisions VALUES (3, 'x', 'x', 'x', 5)`, 'Revision 3 of the catalog was inserted'],
    [
      `INSERT INTO admin_tokens (public_id, name, hash, prefix, scopes, created_by, created_at_ms, commit_id,
        revoked_at_ms) VALUES ('tok_1', 'ben', decode(repeat('00', 32), 'hex'), 'x', 'all', 'admin', 1, 1, 5)`,
      'Admin token "ben" (tok_1) is revoked',
    ],
  ])('verify finds an edit of PostgreSQL by another program: %s', async (tampered, message) => {
    const { one, reads, messages } = await setUp()
    for (const id of ['main', 'spare']) await one.catalog.putProvider(aProvider(id), edit(id))

    await reads.unsafe(tampered)

    expect((await messages()).join('\n')).toContain(message)
  })
})
