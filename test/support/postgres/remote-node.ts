import { spawn, type Subprocess } from 'bun'
import { closeSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { aDataFolder } from '../data-folder.ts'
import type { FakeClock } from '../fake-clock.ts'
import type { TestStore } from '../test-store.ts'
import type { Machine } from './a-node.ts'
import { aPipe, readMessage, writeMessage, type Pipe } from './message-pipe.ts'
import {
  crossingOf,
  type Answer,
  type FromNode,
  type KeptObject,
  type Method,
  type OpenedPorts,
  type ToNode,
} from './node-calls.ts'
import { unpackError } from './packed-error.ts'

const PROGRAM = join(import.meta.dirname, 'node-process.ts')

/** A process that runs nodes for tests. It ends with the process that started it. */
export class NodeProcess {
  readonly #child: Subprocess
  readonly #requests: Pipe
  readonly #answers: Pipe
  readonly #errorFile: string
  readonly #calls = new Map<number, PromiseWithResolvers<unknown>>()
  readonly #listeners = new Map<number, (...given: readonly unknown[]) => void>()
  #numbers = 0
  #isFailed = false

  constructor() {
    this.#requests = aPipe()
    this.#answers = aPipe()
    this.#errorFile = join(aDataFolder(), 'errors')
    this.#child = spawn([process.execPath, PROGRAM], {
      env: process.env,
      stdin: this.#requests.readEnd,
      stdout: this.#answers.writeEnd,
      stderr: Bun.file(this.#errorFile),
      serialization: 'advanced',
      ipc: message => this.#receive(message as FromNode),
      onExit: () => this.#rejectCalls(),
    })
    // These ends are those of the child now, so that each side sees when the other one has ended.
    closeSync(this.#requests.readEnd)
    closeSync(this.#answers.writeEnd)
    this.#child.unref()
  }

  get pid(): number {
    return this.#child.pid
  }

  /** Whether a caller was told that the process has ended. */
  get isFailed(): boolean {
    return this.#isFailed
  }

  /** A number that this process has not used yet. */
  number(): number {
    this.#numbers += 1
    return this.#numbers
  }

  /** Sends a request and resolves with its result. Rejects with what it throws, or if the process ends. */
  async call(request: (id: number) => ToNode): Promise<unknown> {
    const id = this.number()
    this.#send(request(id))
    const call = Promise.withResolvers<unknown>()
    this.#calls.set(id, call)
    return call.promise
  }

  /** Sends a request and stands still until it is answered. Throws what it throws, or if the process has ended. */
  ask(request: ToNode): unknown {
    this.#send(request)
    const read = readMessage(this.#answers.readEnd)
    if (read === undefined) throw this.#failure()
    return resultOf(read.message as Answer)
  }

  /** Lets the node call a function of this process. */
  listen(
    request: Extract<ToNode, { kind: 'listen' }>,
    listener: (...given: readonly unknown[]) => void,
  ): void {
    this.#listeners.set(request.listener, listener)
    this.ask(request)
  }

  #send(request: ToNode): void {
    try {
      writeMessage(this.#requests.writeEnd, request)
    } catch (error) {
      throw error instanceof Error && 'code' in error && error.code === 'EPIPE' ? this.#failure() : error
    }
  }

  #receive(message: FromNode): void {
    if ('listener' in message) {
      this.#listeners.get(message.listener)?.(...message.arguments)
      return
    }
    const call = this.#calls.get(message.id)
    this.#calls.delete(message.id)
    if ('error' in message) call?.reject(unpackError(message.error))
    else call?.resolve(message.value)
  }

  #rejectCalls(): void {
    for (const { reject } of this.#calls.values()) reject(this.#failure())
    this.#calls.clear()
  }

  #failure(): Error {
    this.#isFailed = true
    const ending = this.#child.signalCode ?? this.#child.exitCode
    return new Error(
      `The process of the second node has ended${ending === null ? '' : ` with ${ending}`}. It wrote:\n${readFileSync(this.#errorFile, 'utf8')}`,
    )
  }
}

function resultOf(answer: Answer): unknown {
  if ('error' in answer) throw unpackError(answer.error)
  return answer.value
}

/** A node that runs in another process, on a clock that follows the one of the test. */
export async function remoteNode(
  runner: NodeProcess,
  {
    clock,
    ...opened
  }: { readonly url: string; readonly name: string; readonly machine: Machine; readonly clock: FakeClock },
): Promise<TestStore & { close(): Promise<void> }> {
  const node = runner.number()
  const at = { nowMs: clock.now(), monotonicMs: clock.monotonicMs() }
  const ports = await runner.call(id => ({ kind: 'open', id, node: { ...opened, number: node, at } }))
  const unfollow = clock.follow(to => runner.ask({ kind: 'move', node, to }))
  return {
    ...portsOf(ports as OpenedPorts, called => remoteMethod(runner, node, called)),
    async close() {
      unfollow()
      await runner.call(id => ({ kind: 'close', id, node }))
    },
  }
}

type RemoteMethod = (...given: readonly unknown[]) => unknown

function portsOf(ports: OpenedPorts, remote: (called: Method) => RemoteMethod): TestStore {
  const made = Object.entries(ports).map(([of, methods]) => [
    of,
    methods.length === 0 ? remote({ of }) : objectOf({ of, methods }, remote),
  ])
  return Object.fromEntries(made) as TestStore
}

function objectOf({ of, methods }: KeptObject, remote: (called: Method) => RemoteMethod) {
  return Object.fromEntries(methods.map(method => [method, remote({ of, method })]))
}

/** A method that runs on a node. See `Crossing`. */
function remoteMethod(runner: NodeProcess, node: number, called: Method): RemoteMethod {
  const call = (given: readonly unknown[]) =>
    runner.call(id => ({ ...called, kind: 'call', id, node, arguments: given }))
  const crossing = crossingOf(called)
  switch (crossing) {
    case undefined:
    case 'without functions':
      return (...given) => call(given)
    case 'at once':
      return (...given) => runner.ask({ ...called, kind: 'ask', node, arguments: given })
    case 'listener':
      return listener =>
        runner.listen(
          { ...called, kind: 'listen', node, listener: runner.number() },
          listener as RemoteMethod,
        )
    case 'object':
      return async (...given) => {
        const kept = (await call(given)) as KeptObject | undefined
        return kept && objectOf(kept, of => remoteMethod(runner, node, of))
      }
  }
}

let running: NodeProcess | undefined

/** The process for the second nodes of all tests of this one. One that failed a test is replaced. */
export function nodeProcess(): NodeProcess {
  if (running === undefined || running.isFailed) running = new NodeProcess()
  return running
}
