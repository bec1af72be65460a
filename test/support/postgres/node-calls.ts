import type { ClockMove } from '../fake-clock.ts'
import type { TestStore } from '../test-store.ts'
import type { Machine } from './a-node.ts'
import type { PackedError } from './packed-error.ts'

/**
 * How a method crosses to a node in another process, if it is not a call whose arguments and result are copied:
 * - `at once`: it returns no promise. The process of the test stands still until the node has answered.
 * - `listener`: its argument is a function, which is called again in the process of the test, some time later.
 * - `object`: its result has methods. The object stays with the node, and its methods are called there.
 * - `without functions`: an argument can be or have a function. It then throws. No suite needs that on the second node.
 */
export type Crossing = 'at once' | 'listener' | 'object' | 'without functions'

/**
 * The ports of a node that runs in another process. A method that is not named takes and returns values, and a promise;
 * this does not compile if another one is missing.
 */
const crossings: CrossingsOf<TestStore> = {
  newId: 'at once',
  ledger: { onFreed: 'listener', usageGroups: 'without functions', verify: 'without functions' },
  accounts: {},
  apiKeys: { noteUse: 'at once' },
  adminTokens: { noteUse: 'at once' },
  users: {},
  userSessions: { noteUse: 'at once' },
  signInLinks: {},
  projects: {},
  keyDefaults: {},
  attempts: {},
  jobs: {},
  catalog: {
    current: 'at once',
    putProvider: 'without functions',
    putModel: 'without functions',
    putPriceList: 'without functions',
    replace: 'without functions',
  },
  auditLog: {},
  leases: { take: 'object' },
  limits: { recentRefusal: 'at once' },
  bookedItems: {},
  alerts: {},
  webhooks: {},
  webhookQueue: {},
  mail: {},
  mailQueue: {},
}

export const portNames = Object.keys(crossings) as (keyof TestStore)[]

/** A method of a port, or of an object that stays with a node. A port that is a function has no methods. */
export type Method = { readonly of: string; readonly method?: string }

export function crossingOf({ of, method }: Method): Crossing | undefined {
  const port = (crossings as Readonly<Record<string, Crossing | Readonly<Record<string, Crossing>>>>)[of]
  return typeof port === 'object' ? port[method ?? ''] : port
}

/** What the process of the test sends. The node begins all of it in this order. */
export type ToNode =
  | { readonly kind: 'open'; readonly id: number; readonly node: OpenedNode }
  | (Called & { readonly kind: 'call'; readonly id: number; readonly arguments: readonly unknown[] })
  | (Called & { readonly kind: 'ask'; readonly arguments: readonly unknown[] })
  | (Called & { readonly kind: 'listen'; readonly listener: number })
  | { readonly kind: 'move'; readonly node: number; readonly to: ClockMove }
  | { readonly kind: 'close'; readonly id: number; readonly node: number }

type Called = Method & { readonly node: number }

export type OpenedNode = {
  readonly number: number
  readonly url: string
  readonly name: string
  readonly machine: Machine
  /** The time of the test. */
  readonly at: Omit<ClockMove, 'timers'>
}

/** Answers `open`, `call` and `close`, or calls a listener. */
export type FromNode =
  | (Answer & { readonly id: number })
  | { readonly listener: number; readonly arguments: readonly unknown[] }

/** Answers `ask`, `listen` and `move`. */
export type Answer = { readonly value: unknown } | { readonly error: PackedError }

/** The methods of each port. */
export type OpenedPorts = Readonly<Record<string, readonly string[]>>

/** The result of a call that stays with the node. */
export type KeptObject = { readonly of: string; readonly methods: readonly string[] }

type CrossingsOf<Ports> = {
  readonly [Port in keyof Ports]: Ports[Port] extends AnyFunction
    ? Crossing
    : { readonly [Method in NotCopied<Ports[Port]>]: Crossing }
}

type AnyFunction = (...given: never[]) => unknown

/** The methods that cannot cross as calls with values. */
type NotCopied<Port> = {
  [Method in keyof Port]: IsCopiedCall<Port[Method]> extends true ? never : Method
}[keyof Port]

type IsCopiedCall<Method> = Method extends (...given: infer Arguments) => Promise<infer Result>
  ? IsCopied<Arguments | Result>
  : false

/** False if a function is anywhere in the values of the type. */
type IsCopied<Value> = false extends CopiedPart<Value> ? false : true

type CopiedPart<Value> = unknown extends Value
  ? true
  : Value extends string | number | bigint | boolean | null | undefined | void | Uint8Array
    ? true
    : Value extends AnyFunction
      ? false
      : Value extends ReadonlyMap<infer Key, infer Entry>
        ? CopiedPart<Key | Entry>
        : Value extends ReadonlySet<infer Item>
          ? CopiedPart<Item>
          : Value extends readonly (infer Item)[]
            ? CopiedPart<Item>
            : { [Name in keyof Value]-?: CopiedPart<Value[Name]> }[keyof Value]
