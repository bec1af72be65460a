import { parseArgs } from 'node:util'
import { simulate, type Outcome } from './simulate.ts'

/**
 * `sh scripts/bun.sh all test/simulation/run.ts --seeds 1000 [--from 1]` runs that many seeds and prints what they came
 * to; `--seed 17 [--trace]` runs one, with each of its steps. Exits with 1 where a rule did not hold.
 */
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '100' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    trace: { type: 'boolean', default: false },
  },
})

const first = Number(values.seed ?? values.from)
const count = values.seed === undefined ? Number(values.seeds) : 1
const startMs = performance.now()
const outcomes: Outcome[] = []
for (let seed = first; seed < first + count; seed += 1) {
  const outcome = await simulate(seed, (turn, nowMs) => {
    if (values.trace) console.log(`${nowMs} ${turn.process.name} ${turn.label}`)
  })
  outcomes.push(outcome)
  if (outcome.violations.length > 0 || values.seed !== undefined) report(outcome)
}
summarize(outcomes)
process.exit(outcomes.some(({ violations }) => violations.length > 0) ? 1 : 0)

function report({ seed, steps, jobs, digest, violations }: Outcome): void {
  console.log(`seed ${seed}: ${steps} steps, ${jobs} jobs, digest ${digest.toString(16)}`)
  for (const violation of violations.slice(0, 10)) console.log(`  ${violation}`)
}

function summarize(all: readonly Outcome[]): void {
  const sum = (of: (outcome: Outcome) => number) => all.reduce((total, outcome) => total + of(outcome), 0)
  const seconds = (performance.now() - startMs) / 1000
  const failed = all.filter(({ violations }) => violations.length > 0)
  console.log(
    `${all.length} seeds, ${sum(({ steps }) => steps)} steps, ${sum(({ jobs }) => jobs)} jobs, ${seconds.toFixed(1)} s`,
  )
  console.log(`faults survived: ${lines(all.map(({ faults }) => faults))}`)
  console.log(`jobs of the providers: ${lines(all.map(({ ends }) => ends))}`)
  console.log(
    failed.length === 0
      ? 'every rule held'
      : `seeds with violations: ${failed.map(({ seed }) => seed).join(' ')}`,
  )
}

function lines(counts: readonly ReadonlyMap<string, number>[]): string {
  const totals = new Map<string, number>()
  for (const one of counts) for (const [name, count] of one) totals.set(name, (totals.get(name) ?? 0) + count)
  const sorted = [...totals].sort(([, a], [, b]) => b - a)
  return sorted.map(([name, count]) => `\n  ${String(count).padStart(7)} ${name}`).join('')
}
