/** The revisions of the catalog: who changed what, how two of them differ, and the way back. */
import { useState } from 'preact/hooks'
import { answer, api } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import type { components } from '../../api/schema.d.ts'
import { ChangedRows, Remarks, type CatalogChanges } from '../../parts/catalog-changes.tsx'
import { Confirm } from '../../parts/dialog.tsx'
import { Badge, ListedInstant, Tabs } from '../../parts/facts.tsx'
import { cursorOf, Filters, useQuery } from '../../parts/filters.tsx'
import { messageOf, TextField } from '../../parts/form.tsx'
import { count, zoned } from '../../parts/format.ts'
import { Empty, Loaded } from '../../parts/notes.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Pager, Table, type Column } from '../../parts/table.tsx'
import { toast } from '../../parts/toast.tsx'
import { hasRole } from '../../session.ts'
import { catalogTabs } from '../../pages.ts'
import { catalogTexts } from './texts.ts'
import { rowsTexts } from '../../parts/texts.ts'
import { navigationTexts } from '../../texts.ts'

const words = catalogTexts

type Revision = components['schemas']['Revision']

const columns: readonly Column<Revision>[] = [
  { label: words.revision, isNumber: true, show: ({ revision }) => count(revision) },
  { label: zoned(words.at), show: ({ at }) => <ListedInstant at={at} /> },
  { label: words.who, show: ({ actor }) => <span title={actor}>{nameOf(actor)}</span> },
  { label: words.action, show: ({ action }) => action },
  { label: rowsTexts.changes, mayWrap: true, show: revision => changedText(revision) },
]

/** The e-mail address of `user:ada@example.com (usr_…)`. Others, such as `admin`, are shown whole. */
function nameOf(actor: string): string {
  return /^user:(\S+)/.exec(actor)?.[1] ?? actor
}

/** A line of a table has room for a few names. */
const NAMES_MAX = 5

function changedText({ changes, change_count: total }: Revision): string {
  const shown = changes.slice(0, NAMES_MAX)
  const names = shown.map(({ id, change }) => `${id} (${rowsTexts.kindsOfChange[change].toLowerCase()})`)
  const more = total - shown.length
  return [...names, ...(more > 0 ? [words.more(count(more))] : [])].join(', ')
}

export function CatalogHistory() {
  const [query] = useQuery()
  const [back, goBack] = useState<{ readonly revision: number; readonly changes: CatalogChanges }>()
  const history = useResource(`history ${query['cursor'] ?? ''}`, () =>
    answer(api.GET('/admin/api/catalog/history', { params: { query: cursorOf(query) } })),
  )
  const isFirst = query['cursor'] === undefined
  const preview = async (revision: number) => {
    try {
      goBack({ revision, changes: (await rollBack(revision, { dry_run: 'true' })) as CatalogChanges })
    } catch (error) {
      toast(messageOf(error as Error), 'bad')
    }
  }
  return (
    <>
      <PageHead title={words.history} lead={words.historyLead} />
      <Tabs label={navigationTexts.models} current="catalog/history" tabs={catalogTabs} />
      <Loaded of={history}>
        {({ data, next }) =>
          data.length === 0 ? (
            <Empty title={words.noHistory} text={words.noHistoryText} />
          ) : (
            <>
              <Table
                label={words.history}
                rows={data}
                columns={[
                  ...columns,
                  hasRole('owner') ? actions(preview, isFirst ? data[0]?.revision : undefined) : comparison,
                ]}
                keyOf={({ revision }) => String(revision)}
              />
              <Pager next={next} shown={data.length} />
            </>
          )
        }
      </Loaded>
      {back !== undefined && (
        <Confirm
          title={words.backTitle(count(back.revision))}
          action={words.back}
          isWide
          onConfirm={async () => {
            await rollBack(back.revision, { revision: back.changes.revision })
            toast(words.wentBack(count(back.revision)))
            history.reload()
          }}
          onClose={() => goBack(undefined)}
        >
          <p>{words.backText}</p>
          <Remarks of={back.changes} />
          <ChangedRows of={back.changes.changes} isReordered={back.changes.is_reordered} />
        </Confirm>
      )}
    </>
  )
}

function rollBack(revision: number, query: { readonly dry_run?: 'true'; readonly revision?: number }) {
  return answer(api.POST('/admin/api/catalog/rollback', { params: { query }, body: { revision } }))
}

function Compare({ revision }: { readonly revision: number }) {
  return (
    <a class="button small" href={`catalog/changes?from=${Math.max(1, revision - 1)}&to=${revision}`}>
      {words.compare}
    </a>
  )
}

const comparison: Column<Revision> = {
  label: words.actions,
  show: ({ revision }) => <Compare revision={revision} />,
}

/** There is no way back to the `current` revision. */
function actions(onBack: (revision: number) => Promise<void>, current: number | undefined): Column<Revision> {
  return {
    label: words.actions,
    show: ({ revision }) => (
      <span class="row">
        <Compare revision={revision} />
        {revision === current ? (
          <Badge>{rowsTexts.isCurrent}</Badge>
        ) : (
          <button
            type="button"
            class="button small"
            aria-label={words.backTo(count(revision))}
            onClick={() => void onBack(revision)}
          >
            {words.back}
          </button>
        )}
      </span>
    ),
  }
}

const NUMBER = /^\d{1,9}$/

export function CatalogComparison() {
  const [{ from = '1', to = '' }, change] = useQuery()
  const numbers = { from: NUMBER.test(from) ? Number(from) : 1, ...(NUMBER.test(to) && { to: Number(to) }) }
  const compared = useResource(`${numbers.from} ${numbers.to ?? ''}`, () =>
    answer(api.GET('/admin/api/catalog/changes', { params: { query: numbers } })),
  )
  const field = (name: 'from' | 'to', value: string) => (
    <TextField
      label={words[name]}
      name={name}
      type="number"
      min={1}
      defaultValue={value}
      required
      onChange={event => change({ [name]: event.currentTarget.value })}
    />
  )
  return (
    <>
      <PageHead title={words.compareTitle} parent={{ href: 'catalog/history', label: words.history }} />
      <Filters>
        {field('from', from)}
        {field('to', to)}
      </Filters>
      <Loaded of={compared}>
        {({ changes, is_reordered: isReordered }) => <ChangedRows of={changes} isReordered={isReordered} />}
      </Loaded>
    </>
  )
}
