/**
 * Checks every entry of the ledger and every stored result, and shows how far that is. The operator can accept a
 * problem that it finds.
 */
import { useEffect, useRef, useState } from 'preact/hooks'
import { answer, api } from '../../api/client.ts'
import { useResource, type Resource } from '../../api/resource.ts'
import type { components } from '../../api/schema.d.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Badge, Card, Instant } from '../../parts/facts.tsx'
import { ActionForm, messageOf, TextField } from '../../parts/form.tsx'
import { count } from '../../parts/format.ts'
import { Loaded, Note } from '../../parts/notes.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { toast } from '../../parts/toast.tsx'
import { mayOperate } from '../../session.ts'
import { verifyTexts } from './texts.ts'

const words = verifyTexts

type State = components['schemas']['VerificationState']
type Problem = components['schemas']['Verification']['problems'][number]

/** Often enough for a bar that moves, and cheap: the gateway answers from memory. */
const POLL_MS = 1000

/**
 * The check that runs, whoever started it, and the last one that ended. While one runs, or while `isStarting`, it is
 * read again until the component is gone.
 */
function useVerification(isStarting: boolean, onEnded: () => void): Resource<State> {
  const state = useResource('verify', () => answer(api.GET('/admin/api/verify')))
  const { value, reload } = state
  const isPolled = isStarting || (value?.running ?? null) !== null
  useEffect(() => {
    if (!isPolled) return undefined
    const timer = setTimeout(reload, POLL_MS)
    return () => clearTimeout(timer)
  }, [isPolled, value])
  const endedAt = value?.last?.ended_at
  const known = useRef<{ readonly endedAt: string | undefined }>(undefined)
  useEffect(() => {
    if (value === undefined) return
    if (known.current !== undefined && known.current.endedAt !== endedAt) onEnded()
    known.current = { endedAt }
  }, [value])
  return state
}

export function Verify({ onChecked }: { readonly onChecked: () => void }) {
  const [isStarting, setStarting] = useState(false)
  const [accepting, setAccepting] = useState<Problem>()
  const [error, setError] = useState<Error>()
  const state = useVerification(isStarting, onChecked)
  const running = state.value?.running ?? null
  const run = async () => {
    setStarting(true)
    setError(undefined)
    try {
      await answer(api.POST('/admin/api/verify', { body: {} }))
    } catch (problem) {
      setError(problem as Error)
    }
    setStarting(false)
    state.reload()
  }
  const isBusy = isStarting || running !== null
  return (
    <Card
      title={words.title}
      actions={
        mayOperate() && (
          <button type="button" class="button primary" disabled={isBusy} onClick={() => void run()}>
            {words.run}
          </button>
        )
      }
    >
      <div class="stack">
        <p class="soft">{words.text}</p>
        {error !== undefined && <Note tone="bad">{messageOf(error)}</Note>}
        <Loaded of={state} lines={2}>
          {({ last }) => (
            <>
              {isBusy && <Running check={running} />}
              {last !== null && <Result of={last} onAccept={mayOperate() ? setAccepting : undefined} />}
              {!isBusy && last === null && <p class="soft">{words.none}</p>}
            </>
          )}
        </Loaded>
      </div>
      {accepting !== undefined && (
        <Accept
          problem={accepting}
          onClose={() => setAccepting(undefined)}
          onAccepted={() => {
            setAccepting(undefined)
            state.reload()
          }}
        />
      )}
    </Card>
  )
}

/** Null for a check that was asked for and is not known to have begun. */
function Running({ check }: { readonly check: State['running'] }) {
  const { step = null, checked = 0, of = 1, started_at: startedAt } = check ?? {}
  return (
    <div class="stack">
      <progress class="progress" aria-label={words.running} max={of} value={checked} />
      <p class="soft" role="status">
        {step === null ? words.begins : words.checks(words.steps[step], count(checked), count(of))}
      </p>
      {startedAt !== undefined && (
        <p class="soft">
          {words.started} <Instant at={startedAt} />
        </p>
      )}
    </div>
  )
}

function Result({
  of: { ok, entries, files_elsewhere: elsewhere, shared, problems, ended_at: endedAt },
  onAccept,
}: {
  readonly of: NonNullable<State['last']>
  readonly onAccept: ((problem: Problem) => void) | undefined
}) {
  return (
    <div class="stack" role="status">
      <Note tone={ok ? 'good' : 'bad'}>
        {ok ? words.good(count(entries)) : words.bad(count(problems.length), count(entries))}
        <p class="soft">
          {words.ended} <Instant at={endedAt} />
        </p>
        {elsewhere > 0 && <p>{words.elsewhere(count(elsewhere))}</p>}
        {!shared && <p>{words.notShared}</p>}
      </Note>
      {problems.length > 0 && (
        <Table label={words.problems} rows={problems} columns={columnsOf(onAccept)} keyOf={({ id }) => id} />
      )}
    </div>
  )
}

function columnsOf(onAccept: ((problem: Problem) => void) | undefined): readonly Column<Problem>[] {
  return [
    { label: words.concerns, show: ({ concerns }) => words.concernNames[concerns] },
    { label: words.message, mayWrap: true, show: ({ message }) => message },
    { label: words.entry, show: ({ entry_id: id }) => (id === null ? '–' : <code>{id}</code>) },
    {
      label: words.accepted,
      show: problem =>
        problem.accepted ? (
          <Badge tone="good">{words.accepted}</Badge>
        ) : onAccept === undefined ? (
          '–'
        ) : (
          <button
            type="button"
            class="button small"
            aria-label={words.acceptOf(problem.id)}
            onClick={() => onAccept(problem)}
          >
            {words.accept}
          </button>
        ),
    },
  ]
}

function Accept({
  problem,
  onClose,
  onAccepted,
}: {
  readonly problem: Problem
  readonly onClose: () => void
  readonly onAccepted: () => void
}) {
  return (
    <Dialog title={words.acceptTitle} onClose={onClose}>
      <p>{problem.message}</p>
      <p class="soft">{words.acceptText}</p>
      <ActionForm
        submit={words.accept}
        isDanger
        onCancel={onClose}
        onSubmit={async ({ reason = '' }) => {
          const body = { accept: problem.id, reason }
          await answer(api.POST('/admin/api/verify', { body }))
          toast(words.isAccepted)
          onAccepted()
        }}
      >
        <TextField label={words.reason} name="reason" maxLength={500} required hasFocus />
      </ActionForm>
    </Dialog>
  )
}
