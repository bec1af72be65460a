import { spawn } from 'bun'
import { afterEach, describe, expect, test } from 'bun:test'
import { isRunning } from '../child-program.ts'
import { GatewayError } from '../../../src/domain/errors.ts'
import { usd } from '../../../src/domain/money.ts'
import { UpstreamIdTakenError } from '../../../src/gateway/ports/media/jobs.ts'
import { aProvider, at } from '../catalog-builders.ts'
import { fakeClock } from '../fake-clock.ts'
import { aCredit } from '../ledger-builders.ts'
import { rejection } from '../rejection.ts'
import { until } from '../until.ts'
import { packError, unpackError } from './packed-error.ts'
import { NodeProcess, nodeProcess, remoteNode } from './remote-node.ts'
import { runServer } from './run-server.ts'
import { conformsOnPostgres, databases } from './store-kind.ts'

const server = await runServer()

describe('the process of a second node', () => {
  test('the process of a second node that crashes fails what waits for it, with what it wrote', () => {
    const runner = new NodeProcess()

    const crash = () => runner.ask(undefined as never)

    expect(crash).toThrow(/has ended.*TypeError/s)
    expect(crash).toThrow('has ended')
    expect(runner.isFailed).toBe(true)
  })

  test('the process of a second node ends with the one that started it, also if that is killed', async () => {
    const start = `import { NodeProcess } from ${JSON.stringify(`${import.meta.dirname}/remote-node.ts`)}
      process.send(new NodeProcess().pid)
      setInterval(() => undefined, 60_000)`
    const started = Promise.withResolvers<number>()
    const parent = spawn([process.execPath, '-e', start], { ipc: pid => started.resolve(pid as number) })
    const pid = await started.promise
    const before = isRunning(pid)

    parent.kill('SIGKILL')
    await until('the process has ended', () => !isRunning(pid))

    expect(before).toBe(true)
  })

  test.each([
    [
      'of the gateway',
      new GatewayError('not_found', 'There is no such job.', { param: 'id', cause: new TypeError('inner') }),
    ],
    ['of a port', new UpstreamIdTakenError('Another job has the id.', { cause: 'no error' })],
    ['of the runtime', new Error('a bug')],
    ['that is a text', 'no error'],
  ])('an error %s of a second node is thrown again with its class, fields and cause', (_, error) => {
    const thrown = unpackError(structuredClone(packError(error)))

    expect(thrown).toEqual(error)
    expect(Object.getPrototypeOf(thrown)).toBe(Object.getPrototypeOf(error))
    if (error instanceof Error) {
      expect(Object.keys(thrown as Error)).toEqual(Object.keys(error))
      expect((thrown as Error).cause).toEqual(error.cause)
      expect((thrown as Error).stack).toBe(error.stack)
    }
  })
})

describe.skipIf(server === undefined)('a second node in a process of its own', () => {
  const ends: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const end of ends.splice(0)) await end()
    await databases.giveBack()
  })

  async function setUp(runner = nodeProcess()) {
    const clock = fakeClock()
    const { url } = await databases.take()
    const node = await remoteNode(runner, { url, name: 'other', machine: 'fast', clock })
    return { clock, node }
  }

  test('a second node fails its calls when its process is killed, and they do not wait forever', async () => {
    const runner = new NodeProcess()
    const { node } = await setUp(runner)
    process.kill(runner.pid, 'SIGSTOP')
    const waiting = rejection(node.accounts.listAccounts({ limit: 1 }))

    process.kill(runner.pid, 'SIGKILL')

    const errors = [await waiting, await rejection(node.mail.isOn()), await rejection(node.close())]
    expect(errors.map(error => String(error).split('\n')[0])).toEqual(
      Array.from(
        { length: 3 },
        () => 'Error: The process of the second node has ended with SIGKILL. It wrote:',
      ),
    )
    expect(() => node.newId()).toThrow('has ended')
  })

  test('a second node throws the errors of the store, calls listeners, keeps leases, and refuses functions', async () => {
    const { node } = await setUp()
    ends.push(() => node.close())
    const freed: number[] = []
    node.ledger.onFreed(accountId => freed.push(accountId))

    const { id } = await node.accounts.createAccount(anAccount())
    const refused = await rejection(node.accounts.createAccount(anAccount()))
    await node.ledger.credit({ ...aCredit(id), amount: usd('1') })
    const lease = await node.leases.take('sweep', 1_000)
    const taken = await node.leases.take('sweep', 1_000)
    const isRenewed = await lease!.renew(1_000)
    await until('the listener was told', () => freed.length > 0)
    const uncopied = await rejection(node.catalog.putProvider(aProvider('main'), at(1), () => undefined))

    expect(refused).toBeInstanceOf(GatewayError)
    expect(refused).toMatchObject({ code: 'already_exists', type: 'conflict_error' })
    expect(freed).toEqual([id])
    expect([taken, isRenewed]).toEqual([undefined, true])
    expect(uncopied).toMatchObject({ name: 'DataCloneError' })
  })

  test('the clock of a second node follows each move of the clock of the test', async () => {
    const { clock, node } = await setUp()
    ends.push(() => node.close())
    const seen: bigint[] = []
    const note = () => void seen.push((node.newId().key >> 16n) - BigInt(clock.now()))

    note()
    clock.after(300, note)
    clock.advance(1_000)
    note()
    clock.jump(86_400_000)
    note()

    expect(seen).toEqual([0n, 0n, 0n, 0n])
  })
})

conformsOnPostgres(kind => {
  test('the second node of the suites runs in another process: it does nothing while that is stopped', async () => {
    const { store, other } = await kind.open()
    let isAnswered = false

    process.kill(nodeProcess().pid, 'SIGSTOP')
    const call = other.accounts.findAccount('ben').then(() => (isAnswered = true))
    try {
      await store.accounts.createAccount(anAccount())
      expect(isAnswered).toBe(false)
    } finally {
      process.kill(nodeProcess().pid, 'SIGCONT')
    }
    await call

    expect(isAnswered).toBe(true)
  })
})

function anAccount() {
  return { publicId: 'acct_2', name: 'ben', sandboxOnly: false, audit: at(1) } as const
}
