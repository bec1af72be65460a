/** The providers, which the business buys from, and how they are. */
import { useResource } from '../../api/resource.ts'
import { Ago } from '../../parts/facts.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Empty, Loaded } from '../../parts/notes.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { fieldOf, type Row } from '../../parts/row-form.tsx'
import { SearchedTable } from '../../parts/searched-table.tsx'
import type { Column } from '../../parts/table.tsx'
import { hasRole } from '../../session.ts'
import { providersTexts } from './texts.ts'
import { Newcomer } from '../models/models.tsx'
import { readProviders, readProviderStates, type ProviderState } from './provider-calls.ts'
import { keyOf } from './provider-fields.tsx'
import { StateBadge } from './provider-state.tsx'

const words = providersTexts

type Listed = { readonly id: string; readonly row: Row; readonly state: ProviderState | undefined }

const columns: readonly Column<Listed>[] = [
  {
    label: words.provider,
    show: ({ id }) => <a href={`providers/${encodeURIComponent(id)}`}>{id}</a>,
    sortBy: ({ id }) => id,
  },
  {
    label: words.state,
    show: ({ state }) => (state === undefined ? '–' : <StateBadge of={state.state} />),
    sortBy: ({ state }) => state?.state ?? '',
  },
  { label: words.kind, show: ({ row }) => fieldOf(row, 'kind'), sortBy: ({ row }) => fieldOf(row, 'kind') },
  { label: words.baseUrl, show: ({ row }) => fieldOf(row, 'base_url') || '–' },
  {
    label: words.key,
    show: ({ row }) =>
      keyOf(row) === 'variable' ? <code>{fieldOf(row, 'api_key')}</code> : words.keys[keyOf(row)],
  },
  {
    label: words.lastFailure,
    show: ({ state }) => {
      const [last] = state?.recent_failures ?? []
      return last === undefined ? '–' : <Ago at={last.at} />
    },
  },
]

export function Providers() {
  const providers = useResource('providers', async () => {
    const [{ data }, states] = await Promise.all([readProviders(), readProviderStates()])
    const stateOf = new Map(states.data.map(state => [state.provider, state]))
    return data.map((row): Listed => ({ id: row.id, row, state: stateOf.get(row.id) }))
  })
  const add = hasRole('owner') && (
    <a class="button primary" href="providers/new">
      <Icon name="plus" />
      {words.add}
    </a>
  )
  return (
    <>
      <PageHead title={words.title} lead={words.lead}>
        {add}
      </PageHead>
      <Loaded of={providers}>
        {all =>
          all.length === 0 ? (
            <Empty title={words.empty} text={words.emptyText}>
              {hasRole('owner') && (
                <a class="button primary" href="set-up">
                  {words.setUp}
                </a>
              )}
            </Empty>
          ) : (
            <div class="stack">
              {all.every(({ row }) => row['kind'] === 'sandbox') && <Newcomer />}
              <SearchedTable label={words.title} rows={all} columns={columns} noMatch={words.nothingText} />
            </div>
          )
        }
      </Loaded>
    </>
  )
}
