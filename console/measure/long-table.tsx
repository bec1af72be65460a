/** Runs in the browser of test/console/measure.ts: a table of 100,000 charges, drawn by the parts of the console. */
import { render } from 'preact'
import { LocationProvider } from 'preact-iso'
import { money, nanosOf } from '../src/parts/format.ts'
import { Table, type Column } from '../src/parts/table.tsx'

type Charge = { readonly id: string; readonly model: string; readonly cost: string; readonly at: number }

const ROWS = 100_000
const RUNS = 5
const models = ['gpt-mini', 'claude', 'gemini', 'llama', 'mistral']

const charges: readonly Charge[] = Array.from({ length: ROWS }, (_, index) => ({
  id: `chg_${index}`,
  model: models[(index * 7) % models.length] ?? '',
  cost: `0.${String((index * 7919) % 1_000_000_000).padStart(9, '0')}`,
  at: 1_700_000_000_000 + index * 1000,
}))

const columns: readonly Column<Charge>[] = [
  { label: 'Charge', show: ({ id }) => id, sortBy: ({ id }) => id },
  { label: 'Model', show: ({ model }) => model, sortBy: ({ model }) => model },
  { label: 'Cost', show: ({ cost }) => money(cost), sortBy: ({ cost }) => nanosOf(cost), isNumber: true },
  { label: 'At', show: ({ at }) => new Date(at).toISOString(), sortBy: ({ at }) => at },
]

const place = document.getElementById('measured') ?? document.body

function show(rows: readonly Charge[]): void {
  render(
    <LocationProvider>
      <Table label="Charges" rows={rows} columns={columns} keyOf={({ id }) => id} />
    </LocationProvider>,
    place,
  )
}

/** Until the next frame after the change is drawn. */
async function timed(change: () => void): Promise<number> {
  const startedMs = performance.now()
  change()
  await new Promise(resolve => {
    requestAnimationFrame(() => setTimeout(resolve))
  })
  return performance.now() - startedMs
}

function sortBy(label: string): void {
  const buttons = [...place.querySelectorAll<HTMLButtonElement>('th button')]
  buttons.find(button => button.textContent.trim() === label)?.click()
}

async function measureTable(): Promise<Record<string, readonly number[]>> {
  const times: Record<string, number[]> = {}
  const measure = async (name: string, change: () => void) => {
    const spent = await timed(change)
    ;(times[name] ??= []).push(spent)
  }
  for (let run = 0; run < RUNS; run += 1) {
    render(null, place)
    await measure('drawn', () => show(charges))
    await measure('sorted by text', () => sortBy('Charge'))
    await measure('sorted by amount', () => sortBy('Cost'))
    await measure('filtered', () =>
      show(charges.filter(({ model }) => model === models[run % models.length])),
    )
    await measure('scrolled', () => place.querySelector('.table-wrap')?.scrollTo(0, 300_000))
  }
  return times
}

Object.assign(window, { measureTable })
