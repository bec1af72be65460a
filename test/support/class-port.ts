export type Call = { readonly method: string; readonly arguments: readonly unknown[] }

/**
 * A port whose methods are on its prototype, like those of an instance of a class. `{ ...port }` does not find them
 * there. Each call is recorded, and goes on to the same method of `port`.
 */
export function classPort<Port extends object>(port: Port, calls: Call[]): Port {
  const methods = Object.entries(port).map(([method, implementation]) => [
    method,
    {
      value(...given: unknown[]) {
        calls.push({ method, arguments: given })
        return Reflect.apply(implementation as () => unknown, port, given)
      },
    },
  ])
  const prototype = Object.create(null, Object.fromEntries(methods)) as object
  return Object.create(prototype) as Port
}

/** The names of a port's methods. */
export function methodsOf(port: object): string[] {
  return Object.keys(port).toSorted()
}
