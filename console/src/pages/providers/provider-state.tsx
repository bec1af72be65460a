/** How a provider is: its circuit breakers, its recent failures, and a test call. */
import { useState } from 'preact/hooks'
import { Ago, Badge, Card, type BadgeTone } from '../../parts/facts.tsx'
import { messageOf } from '../../parts/form.tsx'
import { milliseconds } from '../../parts/format.ts'
import { Note } from '../../parts/notes.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { mayOperate } from '../../session.ts'
import { providersTexts } from './texts.ts'
import { testProvider, type ProviderState } from './provider-calls.ts'

const words = providersTexts

const tones = { healthy: 'good', failing: 'warn', half_open: 'warn', open: 'bad' } as const satisfies Record<
  ProviderState['state'],
  BadgeTone
>

export function StateBadge({ of: state }: { readonly of: ProviderState['state'] }) {
  return <Badge tone={tones[state]}>{words.states[state]}</Badge>
}

type Circuit = ProviderState['circuits'][number]
type RecentFailure = ProviderState['recent_failures'][number]

const circuitColumns: readonly Column<Circuit>[] = [
  { label: words.model, show: ({ model }) => <code>{model}</code> },
  { label: words.circuit, show: ({ state }) => words.circuits[state] },
  { label: words.failures, isNumber: true, show: ({ failures }) => failures },
  { label: words.openFor, isNumber: true, show: ({ open_for_ms: ms }) => milliseconds(ms) },
]

const failureColumns: readonly Column<RecentFailure>[] = [
  { label: words.when, show: ({ at }) => <Ago at={at} /> },
  { label: words.model, show: ({ model }) => <code>{model}</code> },
  { label: words.reason, mayWrap: true, show: ({ reason }) => reason ?? '–' },
]

export function StateCard({ state }: { readonly state: ProviderState }) {
  return (
    <Card title={words.state} actions={<StateBadge of={state.state} />}>
      <div class="stack">
        <p class="soft">{words.meanings[state.state]}</p>
        {mayOperate() && <TestCall id={state.provider} />}
        {state.circuits.length > 0 && (
          <Table
            label={words.circuitsTitle}
            rows={state.circuits}
            columns={circuitColumns}
            keyOf={({ model }) => model}
          />
        )}
        <h3>{words.recentFailures}</h3>
        {state.recent_failures.length === 0 ? (
          <p class="soft">{words.noFailures}</p>
        ) : (
          <Table
            label={words.recentFailures}
            rows={state.recent_failures}
            columns={failureColumns}
            keyOf={({ at, model }) => `${at} ${model}`}
          />
        )}
      </div>
    </Card>
  )
}

type Tested = { readonly isOk: boolean; readonly text: string }

export function TestCall({ id, onDone }: { readonly id: string; readonly onDone?: (isOk: boolean) => void }) {
  const [isBusy, setBusy] = useState(false)
  const [tested, setTested] = useState<Tested>()
  const run = async () => {
    setBusy(true)
    setTested(undefined)
    try {
      const { ok, detail, duration_ms: durationMs } = await testProvider(id)
      setTested({ isOk: ok, text: words.testedIn(detail, milliseconds(durationMs)) })
      onDone?.(ok)
    } catch (error) {
      setTested({ isOk: false, text: messageOf(error as Error) })
      onDone?.(false)
    }
    setBusy(false)
  }
  return (
    <div class="stack">
      <div class="row">
        <button type="button" class="button" disabled={isBusy} onClick={() => void run()}>
          {isBusy ? words.testing : words.test}
        </button>
        <span class="soft">{words.testHint}</span>
      </div>
      <div role="status">
        {tested !== undefined && <Note tone={tested.isOk ? 'good' : 'warn'}>{tested.text}</Note>}
      </div>
    </div>
  )
}
