/** The messages of a webhook, with what its receiver answered. */
import { useState } from 'preact/hooks'
import { answer, api } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import type { components } from '../../api/schema.d.ts'
import { messageOf } from '../../parts/form.tsx'
import { exactInstant, milliseconds } from '../../parts/format.ts'
import {
  messageColumns,
  MessageList,
  useChosenMessages,
  type MessageStates,
} from '../../parts/message-list.tsx'
import { Empty } from '../../parts/notes.tsx'
import type { Column } from '../../parts/table.tsx'
import { toast } from '../../parts/toast.tsx'
import { mayOperate } from '../../session.ts'
import { deliveriesTexts } from './texts.ts'

const words = deliveriesTexts

type Delivery = components['schemas']['WebhookDelivery']

const states: MessageStates<Delivery['state']> = {
  tones: { waiting: 'accent', delivered: 'good', failed: 'bad' },
  names: words.states,
}

const columns = messageColumns<Delivery['state'], Delivery>({
  time: [words.occurred, row => row.occurred_at],
  states,
  subject: [{ label: words.event, show: ({ type }) => type }],
  answer: [
    { label: words.answer, show: ({ status }) => (status === null ? '–' : String(status)), isNumber: true },
    { label: words.duration, show: ({ duration_ms: ms }) => milliseconds(ms), isNumber: true },
  ],
})

export function Deliveries({ id }: { readonly id: string }) {
  const asked = useChosenMessages(states)
  const messages = useResource(
    JSON.stringify([id, asked]),
    () => {
      const params = { path: { webhook: id }, query: asked }
      return answer(api.GET('/admin/api/webhooks/{webhook}/deliveries', { params }))
    },
    { subject: id },
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
      <MessageList
        label={words.title}
        states={states}
        messages={messages}
        columns={mayOperate() ? [...columns, send] : columns}
      >
        <Empty title={words.empty} text={words.emptyText} />
      </MessageList>
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
