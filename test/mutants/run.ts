import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { areas, type Area } from './areas.ts'
import { mutated, type Mutant } from './mutant.ts'
import { TreeCopy } from './tree-copy.ts'

/**
 * `npm run mutants` puts one fault after the other into a copy of the source tree, and checks that the tests it names
 * fail. Prints the faults that no test noticed, and exits with 1 if there are any. `-- --area money` or `-- --only
 * NAME` selects some, and `-- --jobs 1` uses one copy instead of two.
 */
const { values } = parseArgs({
  options: {
    area: { type: 'string' },
    only: { type: 'string' },
    jobs: { type: 'string', default: '2' },
  },
})

type Listed = Mutant & { readonly area: Area }

const JOBS_MAX = 2
const root = resolve(import.meta.dirname, '../..')
const selected = select()
const queue = selected.values()
const survivors: Listed[] = []
/** Whether a test file passes without a fault. */
const soundness = new Map<string, Promise<boolean>>()
const copies: TreeCopy[] = []
process.on('exit', () => {
  for (const copy of copies) copy.remove()
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130))

const startMs = performance.now()
const jobs = Math.min(JOBS_MAX, Math.max(1, Number(values.jobs)), selected.length)
await Promise.all(Array.from({ length: jobs }, () => work()))
const seconds = ((performance.now() - startMs) / 1000).toFixed(0)
console.log(`${selected.length} mutants: ${selected.length - survivors.length} caught in ${seconds} s`)
if (survivors.length > 0)
  console.log(`survivors:${survivors.map(({ area, name }) => `\n  ${area}: ${name}`).join('')}`)
process.exit(survivors.length === 0 ? 0 : 1)

function select(): readonly Listed[] {
  const all = (Object.keys(areas) as Area[]).flatMap(area => areas[area].map(mutant => ({ ...mutant, area })))
  const asked = all.filter(
    ({ area, name }) => area === (values.area ?? area) && name === (values.only ?? name),
  )
  if (asked.length > 0) return asked
  console.error(`No mutant is selected. The areas are ${Object.keys(areas).join(', ')}.`)
  process.exit(2)
}

async function work(): Promise<void> {
  const copy = new TreeCopy(root)
  copies.push(copy)
  for (const mutant of queue) {
    const missed = await missedBy(mutant, copy)
    if (missed.length > 0) survivors.push(mutant)
    console.log(
      `${missed.length > 0 ? 'SURVIVED' : 'caught  '} ${mutant.area}: ${mutant.name}${missed.map(file => `\n           passes: ${file}`).join('')}`,
    )
  }
}

/** The named tests that do not notice a fault. */
async function missedBy(mutant: Mutant, copy: TreeCopy): Promise<readonly string[]> {
  // Of the copy, because the tree may be edited meanwhile.
  const content = mutated(mutant, copy.path)
  for (const file of mutant.tests) {
    if (!soundness.has(file)) soundness.set(file, copy.passes(file))
    if (!(await soundness.get(file))) throw new Error(`${file} fails without any fault.`)
  }
  return copy.withContent(mutant.file, content, async () => {
    const missed: string[] = []
    for (const file of mutant.tests) if (await copy.passes(file)) missed.push(file)
    return missed
  })
}
