/** The movements of an account's money, newest first. */
import { useState } from 'preact/hooks'
import { answer, api } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import type { components } from '../../api/schema.d.ts'
import { cursorOf, useQuery } from '../../parts/filters.tsx'
import { Badge, Instant, Money, type BadgeTone } from '../../parts/facts.tsx'
import { Empty, Loaded } from '../../parts/notes.tsx'
import { Pager, Table, type Column } from '../../parts/table.tsx'
import { mayOperate } from '../../session.ts'
import { texts } from '../../texts.ts'
import type { TabProps } from './account-state.tsx'
import { Refund } from './money-dialogs.tsx'

const words = texts.accounts
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
  const { cursor = '' } = query
  const movements = useResource(`${account.id} ${cursor}`, () => {
    const params = { path: { account: account.id }, query: { limit: ROWS, ...cursorOf(query) } }
    return answer(api.GET('/admin/api/accounts/{account}/statement', { params }))
  })
  const [refunding, setRefunding] = useState<Movement>()
  const refund: Column<Movement> = {
    label: texts.parts.actions,
    show: row =>
      isCharge(row) && (
        <button
          type="button"
          class="button small"
          aria-label={words.refundOf(row.ref ?? row.id)}
          onClick={() => setRefunding(row)}
        >
          {words.refund}
        </button>
      ),
  }
  return (
    <>
      <Loaded of={movements}>
        {({ data, next }) =>
          data.length === 0 ? (
            <Empty title={words.noMovements} text={words.noMovementsText} />
          ) : (
            <>
              <Table
                label={words.tabs.statement}
                rows={data}
                columns={mayOperate() && account.closed_at === null ? [...columns, refund] : columns}
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

/** Whether the line is of a request or job that was paid. */
function isCharge({ kind, ref }: Movement): boolean {
  return (kind === 'charge' || kind === 'capture') && isRequest(ref)
}

/** The id of a request or of a job, which has a page of its own. */
function isRequest(ref: string | null): ref is string {
  return ref !== null && /^(req|img|vid)_/.test(ref)
}

const columns: readonly Column<Movement>[] = [
  { label: words.time, show: ({ at }) => <Instant at={at} /> },
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

function noteOf({ note, tags = {}, user }: Movement): string {
  const attributes = Object.entries(tags).map(([name, value]) => `${name}=${value}`)
  const ofUser = user === undefined ? [] : [`${words.user} ${user}`]
  return [...(note === null ? [] : [note]), ...attributes, ...ofUser].join(', ')
}
