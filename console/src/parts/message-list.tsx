/** A list of messages that the gateway sends, such as mails, with a filter by their state. */
import type { ComponentChildren } from 'preact'
import type { Resource } from '../api/resource.ts'
import { partsTexts } from './texts.ts'
import { Ago, Badge, type BadgeTone } from './facts.tsx'
import { ChoiceFilter, cursorOf, Filters, NoRows, useQuery } from './filters.tsx'
import { exactInstant, zoned } from './format.ts'
import { Loaded } from './notes.tsx'
import { Pager, Table, type Column } from './table.tsx'

const words = partsTexts.messages

type Message<State extends string> = {
  readonly id: string
  readonly state: State
  readonly attempts: number
  readonly next_attempt_at: string | null
  readonly problem: string | null
}

/** The states of messages in the order of a filter, with their names and colours. */
export type MessageStates<State extends string> = {
  readonly tones: Readonly<Record<State, BadgeTone>>
  readonly names: Readonly<Record<State, string>>
}

/** What the address chooses of a list of messages, for its call. */
export function useChosenMessages<State extends string>({ tones }: MessageStates<State>) {
  const [query] = useQuery()
  const state = (Object.keys(tones) as State[]).find(state => state === query['state'])
  return { ...(state !== undefined && { state }), ...cursorOf(query) }
}

/** Columns of all messages: first the time and `subject`, then the state and `answer`, and last what comes next. */
export function messageColumns<State extends string, Row extends Message<State>>({
  time,
  states: { tones, names },
  subject,
  answer = [],
}: {
  readonly time: readonly [label: string, at: (row: Row) => string]
  readonly states: MessageStates<State>
  readonly subject: readonly Column<Row>[]
  readonly answer?: readonly Column<Row>[]
}): readonly Column<Row>[] {
  const [label, at] = time
  return [
    {
      label: zoned(label),
      show: row => (
        <time dateTime={at(row)} title={row.id}>
          {exactInstant(at(row))}
        </time>
      ),
    },
    ...subject,
    { label: words.state, show: ({ state }) => <Badge tone={tones[state]}>{names[state]}</Badge> },
    { label: words.attempts, show: ({ attempts }) => String(attempts), isNumber: true },
    ...answer,
    { label: words.next, show: ({ next_attempt_at: at }) => <Ago at={at} /> },
    { label: words.problem, show: ({ problem }) => problem ?? '–', mayWrap: true },
  ]
}

export function MessageList<State extends string, Row extends Message<State>>({
  label,
  states: { tones, names },
  messages,
  columns,
  children,
}: {
  readonly label: string
  readonly states: MessageStates<State>
  readonly messages: Resource<{ readonly data: readonly Row[]; readonly next: string | null }>
  readonly columns: readonly Column<Row>[]
  /** What to do while there are none. */
  readonly children: ComponentChildren
}) {
  return (
    <>
      <Filters>
        <ChoiceFilter
          name="state"
          label={words.state}
          choices={(Object.keys(tones) as State[]).map(value => ({ value, label: names[value] }))}
        />
      </Filters>
      <Loaded of={messages}>
        {({ data, next }) =>
          data.length === 0 ? (
            <NoRows names={['state']}>{children}</NoRows>
          ) : (
            <div>
              <Table label={label} rows={data} columns={columns} keyOf={({ id }) => id} />
              <Pager next={next} shown={data.length} />
            </div>
          )
        }
      </Loaded>
    </>
  )
}
