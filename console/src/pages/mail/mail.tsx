/** The mail server, its queue, and the mails of the last 30 days. */
import { useState } from 'preact/hooks'
import { answer, api } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import type { components } from '../../api/schema.d.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Figure, Figures } from '../../parts/facts.tsx'
import { ActionForm, TextField } from '../../parts/form.tsx'
import { count } from '../../parts/format.ts'
import {
  messageColumns,
  MessageList,
  useChosenMessages,
  type MessageStates,
} from '../../parts/message-list.tsx'
import { Empty, Loaded, Note } from '../../parts/notes.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Subject } from '../../parts/subject.tsx'
import { mayOperate } from '../../session.ts'
import { mailTexts } from './texts.ts'

const words = mailTexts

type Message = components['schemas']['MailMessage']
type State = components['schemas']['MailState']
type Sent = components['schemas']['SentTestMail']

const states: MessageStates<Message['state']> = {
  tones: { waiting: 'accent', sent: 'good', failed: 'bad' },
  names: words.states,
}

const columns = messageColumns<Message['state'], Message>({
  time: [words.queued, row => row.queued_at],
  states,
  subject: [
    { label: words.to, show: ({ to }) => to },
    { label: words.event, show: ({ type }) => type ?? '–' },
    { label: words.account, show: ({ account }) => <Subject id={account} /> },
  ],
})

export function Mail() {
  const state = useResource('mail', () => answer(api.GET('/admin/api/mail')))
  const [isTesting, setTesting] = useState(false)
  return (
    <>
      <PageHead title={words.title} lead={words.lead}>
        {mayOperate() && (
          <button type="button" class="button" onClick={() => setTesting(true)}>
            {words.test}
          </button>
        )}
      </PageHead>
      <div class="stack">
        <Loaded of={state} lines={2}>
          {value => <Server of={value} />}
        </Loaded>
        <Messages />
      </div>
      {isTesting && <TestMail operators={state.value?.operators ?? []} onClose={() => setTesting(false)} />}
    </>
  )
}

function Server({ of: { server, operators, waiting, left_out: leftOut } }: { readonly of: State }) {
  return (
    <>
      {server === null && <Note tone="warn">{words.off}</Note>}
      <Figures>
        <Figure label={words.server} value={server ?? words.none} />
        <Figure label={words.waiting} value={count(waiting)} />
        <Figure label={words.leftOut} value={count(leftOut)} note={words.leftOutNote} />
        <Figure
          label={words.operators}
          value={count(operators.length)}
          note={operators.length === 0 ? words.noOperators : operators.join(', ')}
        />
      </Figures>
    </>
  )
}

function Messages() {
  const asked = useChosenMessages(states)
  const messages = useResource(
    JSON.stringify(asked),
    () => answer(api.GET('/admin/api/mail/messages', { params: { query: asked } })),
    { subject: 'mails' },
  )
  return (
    <section aria-label={words.messages}>
      <MessageList label={words.messages} states={states} messages={messages} columns={columns}>
        <Empty title={words.empty} text={words.emptyText} />
      </MessageList>
    </section>
  )
}

/** Sends a mail at once, and shows what the mail server said. */
function TestMail({
  operators,
  onClose,
}: {
  readonly operators: readonly string[]
  readonly onClose: () => void
}) {
  const [sent, setSent] = useState<readonly Sent[]>([])
  return (
    <Dialog title={words.testTitle} onClose={onClose}>
      <ActionForm
        submit={words.send}
        onCancel={onClose}
        onSubmit={async ({ to = '' }) => {
          setSent([])
          const body = to === '' ? {} : { to }
          const { data } = await answer(api.POST('/admin/api/mail/test', { body }))
          setSent(data)
        }}
      >
        <TextField
          label={words.to}
          name="to"
          type="email"
          hint={operators.length === 0 ? words.toHint : words.toOperators(operators.join(', '))}
          required={operators.length === 0}
        />
      </ActionForm>
      {sent.map(({ to, problem }) => (
        <Note key={to} tone={problem === null ? 'good' : 'bad'}>
          {problem === null ? words.wasSent(to) : `${to}: ${problem}`}
        </Note>
      ))}
    </Dialog>
  )
}
