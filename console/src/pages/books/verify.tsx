/** Checks every entry of the ledger and every stored result. The operator can accept a problem that it finds. */
import { useEffect, useState } from 'preact/hooks'
import { answer, api } from '../../api/client.ts'
import type { components } from '../../api/schema.d.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Badge, Card } from '../../parts/facts.tsx'
import { ActionForm, messageOf, TextField } from '../../parts/form.tsx'
import { count } from '../../parts/format.ts'
import { Note } from '../../parts/notes.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { toast } from '../../parts/toast.tsx'
import { texts } from '../../texts.ts'

const words = texts.verify

type Verification = components['schemas']['Verification']
type Problem = Verification['problems'][number]

export function Verify({ onChecked }: { readonly onChecked: () => void }) {
  const [startedAtMs, setStartedAtMs] = useState<number>()
  const [result, setResult] = useState<Verification>()
  const [accepting, setAccepting] = useState<Problem>()
  const [error, setError] = useState<Error>()
  const run = async () => {
    setStartedAtMs(Date.now())
    setError(undefined)
    try {
      setResult(await answer(api.POST('/admin/api/verify', { body: {} })))
      onChecked()
    } catch (problem) {
      setError(problem as Error)
    }
    setStartedAtMs(undefined)
  }
  return (
    <Card
      title={words.title}
      actions={
        <button
          type="button"
          class="button primary"
          disabled={startedAtMs !== undefined}
          onClick={() => void run()}
        >
          {words.run}
        </button>
      }
    >
      <div class="stack">
        <p class="soft">{words.text}</p>
        {startedAtMs !== undefined && <Running sinceMs={startedAtMs} />}
        {error !== undefined && <Note tone="bad">{messageOf(error)}</Note>}
        {result !== undefined && <Result of={result} onAccept={setAccepting} />}
      </div>
      {accepting !== undefined && (
        <Accept
          problem={accepting}
          onClose={() => setAccepting(undefined)}
          onAccepted={checked => {
            setAccepting(undefined)
            setResult(checked)
            onChecked()
          }}
        />
      )}
    </Card>
  )
}

const SECOND_MS = 1000

function Running({ sinceMs }: { readonly sinceMs: number }) {
  const [seconds, setSeconds] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => setSeconds(Math.round((Date.now() - sinceMs) / SECOND_MS)), SECOND_MS)
    return () => clearInterval(timer)
  }, [sinceMs])
  return (
    <div class="stack" role="status">
      <progress class="progress" aria-label={words.running} />
      <p class="soft">{words.runningFor(seconds)}</p>
    </div>
  )
}

function Result({
  of: { ok, entries, files_elsewhere: elsewhere, problems },
  onAccept,
}: {
  readonly of: Verification
  readonly onAccept: (problem: Problem) => void
}) {
  return (
    <div class="stack" role="status">
      <Note tone={ok ? 'good' : 'bad'}>
        {ok ? words.good(count(entries)) : words.bad(count(problems.length), count(entries))}
        {elsewhere > 0 && <p>{words.elsewhere(count(elsewhere))}</p>}
      </Note>
      {problems.length > 0 && (
        <Table label={words.problems} rows={problems} columns={columnsOf(onAccept)} keyOf={({ id }) => id} />
      )}
    </div>
  )
}

function columnsOf(onAccept: (problem: Problem) => void): readonly Column<Problem>[] {
  return [
    { label: words.concerns, show: ({ concerns }) => words.concernNames[concerns] },
    { label: words.message, mayWrap: true, show: ({ message }) => message },
    { label: words.entry, show: ({ entry_id: id }) => (id === null ? '–' : <code>{id}</code>) },
    {
      label: words.accepted,
      show: problem =>
        problem.accepted ? (
          <Badge tone="good">{words.accepted}</Badge>
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
  readonly onAccepted: (checked: Verification) => void
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
          const checked = await answer(api.POST('/admin/api/verify', { body }))
          toast(words.isAccepted)
          onAccepted(checked)
        }}
      >
        <TextField label={words.reason} name="reason" maxLength={500} required hasFocus />
      </ActionForm>
    </Dialog>
  )
}
