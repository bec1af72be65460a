/** The movements of an account's money, newest first, as far as the filters select them. */
import { useState } from 'preact/hooks'
import { answer, api } from '../../api/client.ts'
import { openListRange } from '../../api/days.ts'
import { useResource } from '../../api/resource.ts'
import type { components } from '../../api/schema.d.ts'
import type { CsvColumn } from '../../parts/csv.ts'
import { DayFilter } from '../../parts/day-filter.tsx'
import { Badge, ListedInstant, Money, type BadgeTone } from '../../parts/facts.tsx'
import { ChoiceFilter, cursorOf, Filters, NoRows, useQuery, type Query } from '../../parts/filters.tsx'
import { zoned } from '../../parts/format.ts'
import { Empty, Loaded } from '../../parts/notes.tsx'
import { SaveListButton } from '../../parts/save-list.tsx'
import { Pager, Table, type Column } from '../../parts/table.tsx'
import { mayOperate } from '../../session.ts'
import { accountsTexts } from './texts.ts'
import { partsTexts } from '../../parts/texts.ts'
import type { TabProps } from './account-state.tsx'
import { Refund } from './money-dialogs.tsx'

const words = accountsTexts
const ROWS = 50

type Movement = components['schemas']['AdminMovement']

const toneOf = {
  top_up: 'good',
  grant: 'good',
  refund: 'accent',
  compensation: 'accent',
  charge: 'plain',
  capture: 'plain',
  hold: 'plain',
  release: 'plain',
  expire: 'plain',
  debit: 'warn',
  loss: 'bad',
} as const satisfies Record<Movement['kind'], BadgeTone>

export function Statement({ account, onChanged }: TabProps) {
  const [query] = useQuery()
  const asked = askedBy(query)
  const read = (page: { readonly cursor?: string; readonly limit: number }) => {
    const params = { path: { account: account.id }, query: { ...asked, ...page } }
    return answer(api.GET('/admin/api/accounts/{account}/statement', { params }))
  }
  const movements = useResource(
    JSON.stringify([account.id, asked, query['cursor']]),
    () => read({ limit: ROWS, ...cursorOf(query) }),
    { subject: account.id },
  )
  const [refunding, setRefunding] = useState<Movement>()
  return (
    <>
      <Filters>
        <ChoiceFilter name="kind" label={words.kind} choices={kindChoices} />
        <DayFilter name="from" label={words.from} zone="browser" />
        <DayFilter name="to" label={words.to} zone="browser" />
        <div class="end">
          <SaveListButton name={`statement-${account.id}`} columns={saved} read={read} />
        </div>
      </Filters>
      <Loaded of={movements}>
        {({ data, next }) =>
          data.length === 0 ? (
            <NoRows names={['kind', 'from', 'to']}>
              <Empty title={words.noMovements} text={words.noMovementsText} />
            </NoRows>
          ) : (
            <>
              <Table
                label={words.tabs.statement}
                rows={data}
                columns={
                  mayOperate() && account.closed_at === null
                    ? [...columns, refundColumn(setRefunding)]
                    : columns
                }
                keyOf={({ id }) => id}
              />
              <Pager next={next} shown={data.length} />
            </>
          )
        }
      </Loaded>
      {refunding !== undefined && (
        <Refund
          charge={refunding.ref ?? ''}
          amount={refunding.amount_usd}
          onClose={() => setRefunding(undefined)}
          onDone={onChanged}
        />
      )}
    </>
  )
}

function refundColumn(refund: (charge: Movement) => void): Column<Movement> {
  return {
    label: partsTexts.actions,
    show: row =>
      isCharge(row) && (
        <button
          type="button"
          class="button small"
          aria-label={words.refundOf(row.ref ?? row.id)}
          onClick={() => refund(row)}
        >
          {words.refund}
        </button>
      ),
  }
}

const kindChoices = (Object.keys(toneOf) as Movement['kind'][]).map(value => ({
  value,
  label: words.kinds[value],
}))

/** What the address selects. Days are those of the browser's time zone. */
function askedBy(query: Query) {
  const kind = kindChoices.find(({ value }) => value === query['kind'])?.value
  return { ...(kind !== undefined && { kind }), ...openListRange(query) }
}

/** Whether the line is of a request or job that was paid. */
function isCharge({ kind, ref }: Movement): boolean {
  return (kind === 'charge' || kind === 'capture') && isRequest(ref)
}

/** The id of a request or of a job, which has a page of its own. */
function isRequest(ref: string | null): ref is string {
  return ref !== null && /^(req|img|vid)_/.test(ref)
}

const columns: readonly Column<Movement>[] = [
  { label: zoned(words.time), show: ({ at }) => <ListedInstant at={at} /> },
  { label: words.kind, show: ({ kind }) => <Badge tone={toneOf[kind]}>{words.kinds[kind]}</Badge> },
  { label: words.amount, isNumber: true, show: ({ amount_usd: amount }) => <Money of={amount} /> },
  {
    label: words.ref,
    show: ({ ref }) => {
      if (ref === null || ref === '') return '–'
      return isRequest(ref) ? <a href={`requests/${ref}`}>{ref}</a> : ref
    },
  },
  { label: words.noteAndTags, mayWrap: true, show: row => noteOf(row) || '–' },
]

const saved: readonly CsvColumn<Movement>[] = [
  ['id', ({ id }) => id],
  ['at', ({ at }) => at],
  ['kind', ({ kind }) => kind],
  ['amount_usd', row => row.amount_usd],
  ['ref', ({ ref }) => ref],
  ['note', ({ note }) => note],
  ['user', ({ user }) => user ?? null],
  ['tags', ({ tags = {} }) => pairsOf(tags).join(' ')],
]

function pairsOf(tags: NonNullable<Movement['tags']>): readonly string[] {
  return Object.entries(tags).map(([name, value]) => `${name}=${value}`)
}

function noteOf({ note, tags = {}, user }: Movement): string {
  const ofUser = user === undefined ? [] : [`${words.user} ${user}`]
  return [...(note === null ? [] : [note]), ...pairsOf(tags), ...ofUser].join(', ')
}
