/** The messages of a webhook, with what its receiver answered. */
import { useState } from 'preact/hooks'
import { answer, api } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import type { components } from '../../api/schema.d.ts'
import { Ago, Badge } from '../../parts/facts.tsx'
import { ChoiceFilter, cursorOf, Filters, NoRows, useQuery } from '../../parts/filters.tsx'
import { messageOf } from '../../parts/form.tsx'
import { exactInstant, milliseconds, zoned } from '../../parts/format.ts'
import { Empty, Loaded } from '../../parts/notes.tsx'
import { Pager, Table, type Column } from '../../parts/table.tsx'
import { toast } from '../../parts/toast.tsx'
import { mayOperate } from '../../session.ts'
import { texts } from '../../texts.ts'

const words = texts.deliveries

type Delivery = components['schemas']['WebhookDelivery']

const tones = { waiting: 'accent', delivered: 'good', failed: 'bad' } as const satisfies Record<
  Delivery['state'],
  string
>
const states = Object.keys(tones) as readonly Delivery['state'][]

const columns: readonly Column<Delivery>[] = [
  {
    label: zoned(words.occurred),
    show: ({ id, occurred_at: at }) => (
      <time dateTime={at} title={id}>
        {exactInstant(at)}
      </time>
    ),
  },
  { label: words.event, show: ({ type }) => type },
  { label: words.state, show: ({ state }) => <Badge tone={tones[state]}>{words.states[state]}</Badge> },
  { label: words.attempts, show: ({ attempts }) => String(attempts), isNumber: true },
  { label: words.answer, show: ({ status }) => (status === null ? '–' : String(status)), isNumber: true },
  { label: words.duration, show: ({ duration_ms: ms }) => milliseconds(ms), isNumber: true },
  { label: words.next, show: ({ next_attempt_at: at }) => <Ago at={at} /> },
  { label: words.problem, show: ({ problem }) => problem ?? '–', mayWrap: true },
]

export function Deliveries({ id }: { readonly id: string }) {
  const [query] = useQuery()
  const state = states.find(state => state === query['state'])
  const asked = { ...(state !== undefined && { state }), ...cursorOf(query) }
  const messages = useResource(JSON.stringify([id, asked]), () =>
    answer(
      api.GET('/admin/api/webhooks/{webhook}/deliveries', {
        params: { path: { webhook: id }, query: asked },
      }),
    ),
  )
  const send: Column<Delivery> = {
    label: words.again,
    show: row => <SendAgain webhook={id} delivery={row} onSent={messages.reload} />,
  }
  return (
    <section class="stack" aria-label={words.title}>
      <header class="row">
        <h2>{words.title}</h2>
        <button type="button" class="button small" disabled={messages.isLoading} onClick={messages.reload}>
          {words.refresh}
        </button>
      </header>
      <Filters>
        <ChoiceFilter
          name="state"
          label={words.state}
          choices={states.map(value => ({ value, label: words.states[value] }))}
        />
      </Filters>
      <Loaded of={messages}>
        {({ data, next }) =>
          data.length === 0 ? (
            <NoRows names={['state']}>
              <Empty title={words.empty} text={words.emptyText} />
            </NoRows>
          ) : (
            <div>
              <Table
                label={words.title}
                rows={data}
                columns={mayOperate() ? [...columns, send] : columns}
                keyOf={({ id }) => id}
              />
              <Pager next={next} shown={data.length} />
            </div>
          )
        }
      </Loaded>
    </section>
  )
}

function SendAgain({
  webhook,
  delivery,
  onSent,
}: {
  readonly webhook: string
  readonly delivery: Delivery
  readonly onSent: () => void
}) {
  const [isBusy, setBusy] = useState(false)
  const send = async () => {
    setBusy(true)
    try {
      const path = { webhook, delivery: delivery.id }
      await answer(
        api.POST('/admin/api/webhooks/{webhook}/deliveries/{delivery}/redeliver', { params: { path } }),
      )
      toast(words.sentAgain)
      onSent()
    } catch (error) {
      toast(messageOf(error as Error), 'bad')
    }
    setBusy(false)
  }
  if (delivery.state === 'waiting') return null
  return (
    <button
      type="button"
      class="button small"
      aria-label={words.sendAgain(delivery.type, exactInstant(delivery.occurred_at))}
      disabled={isBusy}
      onClick={() => void send()}
    >
      {words.send}
    </button>
  )
}
