import { connections, type Connections } from '../../../src/stores/postgres/database/database.ts'
import type { PostgresNode } from '../../../src/stores/postgres/node.ts'
import { fakeClock, type ClockMove, type FakeClock } from '../fake-clock.ts'
import { aNode } from './a-node.ts'
import { keptConnections } from './databases.ts'
import { messagesOf, writeMessage } from './message-pipe.ts'
import {
  crossingOf,
  portNames,
  type FromNode,
  type KeptObject,
  type Method,
  type OpenedNode,
  type OpenedPorts,
  type ToNode,
} from './node-calls.ts'
import { packError } from './packed-error.ts'

// The program of a process that runs nodes for the tests of another one, see remote-node.ts. It reads requests from its
// standard input and ends with it. What the other process stands still for is answered on standard output.

const ANSWERS = 1
// A line of a developer between the answers could not be read as one.
console.log = console.error

const nodes = new Map<number, ServedNode>()
/** By the URL of their database. The tests use few databases again and again. */
const kept = new Map<string, Connections>()

/** A node with its own copy of the clock of the test. */
class ServedNode {
  readonly #node: PostgresNode
  readonly #clock: FakeClock
  /** The monotonic time of the test. That of this process is another one. */
  #testMs: number
  /** What has methods: the ports, and results of calls. */
  readonly #objects: Map<string, object>

  private constructor(node: PostgresNode, clock: FakeClock, testMs: number) {
    this.#node = node
    this.#clock = clock
    this.#testMs = testMs
    this.#objects = new Map(portNames.map(port => [port, node[port]]))
  }

  static async open({ url, name, machine, at }: OpenedNode): Promise<ServedNode> {
    if (!kept.has(url)) kept.set(url, keptConnections(connections({ url })))
    const clock = fakeClock(at.nowMs)
    const node = await aNode(url, name, clock, { machine, connections: kept.get(url)! })
    return new ServedNode(node, clock, at.monotonicMs)
  }

  get ports(): OpenedPorts {
    return Object.fromEntries([...this.#objects].map(([port, object]) => [port, methodsOf(object)]))
  }

  invoke({ of, method }: Method, given: readonly unknown[]): unknown {
    const object = this.#objects.get(of)!
    const called = method === undefined ? object : object[method as keyof object]
    return Reflect.apply(called as () => unknown, object, given)
  }

  keep(object: object): KeptObject {
    const of = `object ${this.#objects.size}`
    this.#objects.set(of, object)
    return { of, methods: methodsOf(object) }
  }

  move({ nowMs, monotonicMs, timers }: ClockMove): void {
    const passedMs = monotonicMs - this.#testMs
    this.#testMs = monotonicMs
    if (timers === 'late') this.#clock.jump(passedMs)
    else this.#clock.advance(passedMs)
    this.#clock.setWallClock(nowMs)
  }

  close(): Promise<void> {
    return this.#node.close()
  }
}

/** The names of the methods of a port, which may be the instance of a class. */
function methodsOf(object: object): string[] {
  const names = new Set<string>()
  for (
    let at = object;
    at !== Object.prototype && at !== Function.prototype;
    at = Object.getPrototypeOf(at) as object
  )
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(at)))
      if (typeof value === 'function' && name !== 'constructor') names.add(name)
  return [...names]
}

/** Begins what a message asks for before it returns, so everything begins in the order in which the test asked. */
function handle(message: ToNode): void {
  switch (message.kind) {
    case 'open':
      void reply(message.id, () => openNode(message.node))
      break
    case 'call':
      void reply(message.id, () => call(nodes.get(message.node)!, message))
      break
    case 'close':
      void reply(message.id, () => closeNode(message.node))
      break
    case 'ask':
      answer(() => nodes.get(message.node)!.invoke(message, message.arguments))
      break
    case 'listen': {
      const { listener } = message
      const tell = (...given: unknown[]) => send({ listener, arguments: given })
      answer(() => nodes.get(message.node)!.invoke(message, [tell]))
      break
    }
    case 'move':
      answer(() => nodes.get(message.node)!.move(message.to))
  }
}

async function openNode(opened: OpenedNode): Promise<OpenedPorts> {
  const node = await ServedNode.open(opened)
  nodes.set(opened.number, node)
  return node.ports
}

async function call(node: ServedNode, called: Extract<ToNode, { kind: 'call' }>): Promise<unknown> {
  const result = await node.invoke(called, called.arguments)
  const isKept = crossingOf(called) === 'object' && result !== undefined
  return isKept ? node.keep(result as object) : result
}

async function closeNode(number: number): Promise<void> {
  const node = nodes.get(number)
  nodes.delete(number)
  await node?.close()
}

async function reply(id: number, work: () => Promise<unknown>): Promise<void> {
  try {
    send({ id, value: await work() })
  } catch (error) {
    send({ id, error: packError(error) })
  }
}

function answer(work: () => unknown): void {
  try {
    writeMessage(ANSWERS, { value: work() })
  } catch (error) {
    writeMessage(ANSWERS, { error: packError(error) })
  }
}

function send(message: FromNode): void {
  process.send!(message)
}

for await (const message of messagesOf(Bun.stdin.stream())) handle(message as ToNode)
// The process that it works for has ended.
process.exit()
