export type Call = { readonly method: string; readonly arguments: readonly unknown[] }

/**
 * An implementation of a port as a class: its methods are on the prototype, where `{ ...port }` does not find them.
 * Each call is written down, and goes on to the same method of `port`.
 */
export function classPort<Port extends object>(port: Port, calls: Call[]): Port {
  class ClassPort {}
  for (const [method, implementation] of Object.entries(port)) {
    Object.defineProperty(ClassPort.prototype, method, {
      value(...given: unknown[]) {
        calls.push({ method, arguments: given })
        return Reflect.apply(implementation as () => unknown, port, given)
      },
    })
  }
  return new ClassPort() as Port
}

/** The names of a port's methods. */
export function methodsOf(port: object): string[] {
  return Object.keys(port).toSorted()
}
