/** Counts what went wrong in a run by order of the simulation. */
export class Faults {
  readonly counts = new Map<string, number>()

  count(name: string, by = 1): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + by)
  }

  get total(): number {
    return [...this.counts.values()].reduce((sum, count) => sum + count, 0)
  }
}

/** An error that the simulation caused. Any other error that a node reports is a fault of the product. */
export class InjectedError extends Error {
  override readonly name = 'InjectedError'
}
