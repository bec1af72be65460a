import { Counter, Gauge, type Registry } from 'prom-client'

/** A metric without labels. One whose name ends in `_total` is a counter. */
export type NumberMetric = {
  readonly name: string
  readonly help: string
  /** Called when the metrics are read. */
  readonly read: () => number | Promise<number>
}

export function registerNumber({ name, help, read }: NumberMetric, registry: Registry): Gauge | Counter {
  const registers = [registry]
  if (!name.endsWith('_total'))
    return new Gauge({
      name,
      help,
      registers,
      async collect() {
        this.set(await read())
      },
    })
  return new Counter({
    name,
    help,
    registers,
    async collect() {
      const value = await read()
      this.reset()
      this.inc(value)
    },
  })
}
