import { copyFileSync, existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Database } from 'bun:sqlite'
import { afterEach, describe, expect, test } from 'bun:test'
import { aDataFolder } from '../../support/data-folder.ts'
import { startGatewayProcess, type GatewayProcess } from '../../support/gateway-process.ts'
import { runCli, startCli } from '../../support/run-cli.ts'
import { PROCESS_START_MS_MAX, until } from '../../support/until.ts'

const ADMIN_KEY = 'tg_admin_for_backups'

const running = new Set<GatewayProcess>()

afterEach(async () => {
  for (const gateway of running) await gateway.kill()
  running.clear()
})

async function start(dataDir: string, settings: Record<string, string> = {}): Promise<GatewayProcess> {
  const gateway = await startGatewayProcess(dataDir, {
    TOLLGATE_ADMIN_KEY: ADMIN_KEY,
    TOLLGATE_LOG_LEVEL: 'error',
    TOLLGATE_REPLAY_TTL_S: '0',
    ...settings,
  })
  running.add(gateway)
  return gateway
}

async function admin<Answer>({ url }: GatewayProcess, method: string, path: string, body?: object) {
  const response = await fetch(`${url}/admin/api/${path}`, {
    method,
    headers: { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as Answer
}

/** A new folder with a gateway and an account with a key. */
async function aGateway() {
  const dataDir = aDataFolder()
  const gateway = await start(dataDir)
  await admin(gateway, 'POST', 'accounts', { name: 'ada' })
  await admin(gateway, 'POST', 'accounts/ada/grants', { amount_usd: '100' })
  const { key } = await admin<{ key: string }>(gateway, 'POST', 'accounts/ada/keys', {})
  return { dataDir, gateway, key }
}

async function chat({ url }: GatewayProcess, key: string, content = 'Hi'): Promise<string> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sandbox-chat', max_tokens: 5, messages: [{ role: 'user', content }] }),
  })
  await response.arrayBuffer()
  if (response.status !== 200) throw new Error(`The chat has status ${response.status}.`)
  return response.headers.get('x-request-id')!
}

async function get(gateway: GatewayProcess, key: string, path: string): Promise<unknown> {
  const response = await fetch(`${gateway.url}${path}`, { headers: { 'x-api-key': key } })
  return response.json()
}

/** What a customer sees of the books. */
async function seen(gateway: GatewayProcess, key: string): Promise<unknown> {
  return {
    balance: await get(gateway, key, '/v1/balance'),
    statement: await get(gateway, key, '/v1/statement?limit=500'),
    usage: await get(gateway, key, '/v1/usage?limit=500'),
  }
}

async function chargesOf(gateway: GatewayProcess, key: string): Promise<readonly string[]> {
  const { data } = (await get(gateway, key, '/v1/usage?limit=500')) as { data: readonly { id: string }[] }
  return data.map(({ id }) => id)
}

function backUp(gateway: GatewayProcess, file: string): Promise<{ commits: number; job_files: number }> {
  return admin(gateway, 'POST', 'backups', { file })
}

function restore(dataDir: string, file: string, ...options: readonly string[]) {
  return runCli(['restore', file, ...options], { TOLLGATE_DATA_DIR: dataDir })
}

async function expectSound(gateway: GatewayProcess): Promise<void> {
  expect(await admin(gateway, 'POST', 'verify')).toMatchObject({ ok: true, problems: [] })
  expect((await fetch(`${gateway.url}/health/ready`)).status).toBe(200)
}

describe('a backup', () => {
  test('a backup has every charge that was told before it began, while more are made', async () => {
    const { gateway, key } = await aGateway()
    const file = join(aDataFolder(), 'books.db')
    let told: string[] = []
    const writing = new AbortController()
    const callers = Array.from({ length: 4 }, async (_, caller) => {
      for (let turn = 0; !writing.signal.aborted; turn += 1) {
        const id = await chat(gateway, key, `${caller} ${turn}`)
        // After the await, because the list is another one when the backup begins.
        told.push(id)
      }
    })
    await until('charges are told', () => told.length >= 20)
    const before = [...told]
    told = []

    await backUp(gateway, file)

    writing.abort()
    await Promise.all(callers)
    const restoredFolder = aDataFolder()
    expect(await restore(restoredFolder, file)).toMatchObject({ code: 0 })
    const restored = await start(restoredFolder)
    expect(new Set(await chargesOf(restored, key)).isSupersetOf(new Set(before))).toBe(true)
    expect(told.length).toBeGreaterThan(0)
    await expectSound(restored)
    await expectSound(gateway)
  })

  test('a backup is written while requests are served', async () => {
    const { dataDir, gateway: first, key } = await aGateway()
    await first.stop()
    // Enough that copying the books takes longer than some requests.
    const database = new Database(join(dataDir, 'tollgate.db'))
    database.run('CREATE TABLE filler (x BLOB) STRICT')
    database.run('INSERT INTO filler VALUES (zeroblob(40000000))')
    database.close()
    const gateway = await start(dataDir)
    const folder = aDataFolder()
    let served = 0

    // On a busy machine, a backup can be faster than the requests. A gateway that waits for the copy never serves one.
    for (let count = 1; served === 0; count += 1) {
      const file = join(folder, `${count}.db`)
      const writing = new AbortController()
      const written = backUp(gateway, file).finally(() => writing.abort())
      // SQLite has a journal beside the copy, as long as it writes it.
      const isCopying = () => existsSync(`${file}.partial-journal`)
      while (!writing.signal.aborted) {
        const hasBegun = isCopying()
        await chat(gateway, key)
        if (hasBegun && isCopying()) served += 1
      }
      await written
      rmSync(file)
    }

    expect(served).toBeGreaterThan(0)
    await expectSound(gateway)
  }, 300_000)

  test('a backup that is restored has the same balance, statement and usage, and the next charge fits', async () => {
    const { gateway, key } = await aGateway()
    for (const content of ['A', 'B', 'C']) await chat(gateway, key, content)
    const file = join(aDataFolder(), 'books.db')
    await backUp(gateway, file)
    const before = await seen(gateway, key)
    const restoredFolder = aDataFolder()
    await restore(restoredFolder, file)

    const restored = await start(restoredFolder)

    expect(await seen(restored, key)).toEqual(before)
    const id = await chat(restored, key)
    expect((await chargesOf(restored, key))[0]).toBe(id)
    await expectSound(restored)
  })

  test('a backup that kill -9 cuts off never has the name of a backup, and the next one removes what it left', async () => {
    const { dataDir, gateway: first, key } = await aGateway()
    for (const content of ['A', 'B', 'C']) await chat(first, key, content)
    const folder = aDataFolder()
    let gateway = first
    for (let round = 1; round <= 3; round += 1) {
      const file = join(folder, `${round}.db`)
      const written = backUp(gateway, file).catch(() => 'killed')
      await until('something is written', () =>
        readdirSync(folder).some(name => name.startsWith(`${round}.`)),
      )
      await gateway.kill()
      await written

      // A backup that is there is whole, even if the kill came late.
      if (existsSync(file)) expect(await restore(aDataFolder(), file)).toMatchObject({ code: 0 })
      gateway = await start(dataDir)
    }

    for (let round = 1; round <= 3; round += 1) {
      const file = join(folder, `${round}.db`)
      // It is refused if the killed one is whole, and removes what that left all the same.
      await backUp(gateway, file).catch((error: unknown) => expect(String(error)).toContain('exists'))
    }

    expect(readdirSync(folder).filter(name => name.includes('partial'))).toEqual([])
    await expectSound(gateway)
  }, 300_000)
})

describe('a restore', () => {
  /** A stopped folder with books, an older backup of them, and what a customer sees in each. */
  async function aFolderWithBackup() {
    const { dataDir, gateway, key } = await aGateway()
    await chat(gateway, key, 'before')
    const file = join(aDataFolder(), 'books.db')
    await backUp(gateway, file)
    const atBackup = await chargesOf(gateway, key)
    await chat(gateway, key, 'after')
    const atStop = await chargesOf(gateway, key)
    await gateway.stop()
    return { dataDir, file, key, atBackup, atStop }
  }

  test('a restore of older books gives them a new anchor and an audit line, and keeps the replaced ones', async () => {
    const { dataDir, file, key, atBackup, atStop } = await aFolderWithBackup()

    const refused = await restore(dataDir, file)
    const { code, out } = await restore(dataDir, file, '--replace', 'the disk failed')

    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('--replace REASON') })
    expect(code).toBe(0)
    const gateway = await start(dataDir)
    expect(await chargesOf(gateway, key)).toEqual(atBackup)
    await expectSound(gateway)
    const { data } = await admin<{ data: readonly object[] }>(gateway, 'GET', 'audit')
    expect(data).toContainEqual(
      expect.objectContaining({
        action: 'books.restore',
        subject: file,
        detail: expect.stringMatching(/^the disk failed \(the anchor named commit \d+\)$/),
      }),
    )
    const replaced = readdirSync(dataDir).find(name => name.startsWith('replaced-'))
    expect(out).toContain(join(dataDir, replaced!))
    expect(out).toContain(`The anchor ${join(dataDir, 'anchor.json')} names the last one.`)
    expect(atStop).toHaveLength(atBackup.length + 1)
    expect(await booksAside(join(dataDir, replaced!), key)).toEqual(atStop)
  })

  /** The charges in a folder of replaced books, after they are put back into a data folder. */
  async function booksAside(folder: string, key: string): Promise<readonly string[]> {
    const dataDir = aDataFolder()
    for (const name of ['tollgate.db', 'anchor.json']) copyFileSync(join(folder, name), join(dataDir, name))
    const gateway = await start(dataDir)
    await expectSound(gateway)
    return chargesOf(gateway, key)
  }

  test('a restore while a gateway runs on the folder is refused', async () => {
    const { dataDir, gateway } = await aGateway()
    const file = join(aDataFolder(), 'books.db')
    await backUp(gateway, file)

    const { code, err } = await restore(dataDir, file, '--replace', 'a test')

    expect(code).toBe(1)
    expect(err).toContain('A backup can only be restored while the gateway is stopped.')
    await expectSound(gateway)
  })

  test('a restore that is interrupted by kill -9 leaves the old books or the new ones, and says how to continue', async () => {
    const { dataDir, file, key, atBackup, atStop } = await aFolderWithBackup()
    const settings = { TOLLGATE_DATA_DIR: dataDir }
    const seenBooks: (readonly string[])[] = []
    for (const sign of ['restore.partial', 'restore.ready']) {
      const child = startCli(['restore', file, '--replace', 'a test'], settings)
      const isThere = () => existsSync(join(dataDir, sign))
      const isSoFar = () => isThere() || child.exitCode !== null
      await until('the restore has come so far', isSoFar, PROCESS_START_MS_MAX)
      child.kill('SIGKILL')
      await child.exited
      if (existsSync(join(dataDir, 'restore.ready'))) {
        const refused = await runCli(['balance', 'ada'], settings)
        expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('Run "tollgate restore"') })
        const finished = await restore(dataDir, file)
        expect(finished).toMatchObject({
          code: 0,
          out: expect.stringContaining('interrupted restore was finished'),
        })
      }
      const gateway = await start(dataDir)
      await expectSound(gateway)
      seenBooks.push(await chargesOf(gateway, key))
      await gateway.stop()
    }

    for (const books of seenBooks) expect([atBackup, atStop]).toContainEqual(books)
    expect(await restore(dataDir, file, '--replace', 'a test')).toMatchObject({ code: 0 })
    expect(readdirSync(dataDir).filter(name => name.startsWith('restore.'))).toEqual([])
    const gateway = await start(dataDir)
    expect(await chargesOf(gateway, key)).toEqual(atBackup)
    await expectSound(gateway)
  }, 300_000)

  test('a restore brings back the images of jobs', async () => {
    const { gateway, key } = await aGateway()
    const image = await fetch(`${gateway.url}/v1/images/generations`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'sandbox-image', prompt: 'A' }),
    })
    expect(image.status).toBe(200)
    const { data: jobs } = await admin<{ data: readonly { id: string }[] }>(gateway, 'GET', 'jobs')
    const result = await get(gateway, key, `/v1/images/jobs/${jobs[0]!.id}`)
    const file = join(aDataFolder(), 'books.db')
    const { job_files } = await backUp(gateway, file)
    const restoredFolder = aDataFolder()
    await restore(restoredFolder, file)

    const restored = await start(restoredFolder)

    expect(job_files).toBe(1)
    expect(await get(restored, key, `/v1/images/jobs/${jobs[0]!.id}`)).toEqual(result)
  })
})
