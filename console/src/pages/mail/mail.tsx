/** The mail server, its queue, and the mails of the last 30 days. */
import { useState } from 'preact/hooks'
import { answer, api } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import type { components } from '../../api/schema.d.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Ago, Badge, Figure, Figures } from '../../parts/facts.tsx'
import { ChoiceFilter, cursorOf, Filters, NoRows, useQuery } from '../../parts/filters.tsx'
import { ActionForm, TextField } from '../../parts/form.tsx'
import { count, exactInstant, zoned } from '../../parts/format.ts'
import { Empty, Loaded, Note } from '../../parts/notes.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Subject } from '../../parts/subject.tsx'
import { Pager, Table, type Column } from '../../parts/table.tsx'
import { mayOperate } from '../../session.ts'
import { texts } from '../../texts.ts'

const words = texts.mail

type Message = components['schemas']['MailMessage']
type State = components['schemas']['MailState']
type Sent = components['schemas']['SentTestMail']

const tones = { waiting: 'accent', sent: 'good', failed: 'bad' } as const satisfies Record<
  Message['state'],
  string
>
const states = Object.keys(tones) as readonly Message['state'][]

const columns: readonly Column<Message>[] = [
  {
    label: zoned(words.queued),
    show: ({ id, queued_at: at }) => (
      <time dateTime={at} title={id}>
        {exactInstant(at)}
      </time>
    ),
  },
  { label: words.to, show: ({ to }) => to },
  { label: words.event, show: ({ type }) => type ?? '–' },
  { label: words.account, show: ({ account }) => <Subject id={account} /> },
  { label: words.state, show: ({ state }) => <Badge tone={tones[state]}>{words.states[state]}</Badge> },
  { label: words.attempts, show: ({ attempts }) => String(attempts), isNumber: true },
  { label: words.next, show: ({ next_attempt_at: at }) => <Ago at={at} /> },
  { label: words.problem, show: ({ problem }) => problem ?? '–', mayWrap: true },
]

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
  const [query] = useQuery()
  const state = states.find(state => state === query['state'])
  const asked = { ...(state !== undefined && { state }), ...cursorOf(query) }
  const messages = useResource(JSON.stringify(asked), () =>
    answer(api.GET('/admin/api/mail/messages', { params: { query: asked } })),
  )
  return (
    <section aria-label={words.messages}>
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
            <>
              <Table label={words.messages} rows={data} columns={columns} keyOf={({ id }) => id} />
              <Pager next={next} shown={data.length} />
            </>
          )
        }
      </Loaded>
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
