/** Makes images or a clip, and shows the job until it ends. */
import { useEffect, useState } from 'preact/hooks'
import { newIdempotencyKey } from '../../api/idempotency-key.ts'
import { TextField } from '../../parts/form.tsx'
import { money } from '../../parts/format.ts'
import { playgroundTexts } from './texts.ts'
import { OutcomeLine, type Outcome } from './chat.tsx'
import { Composer } from './composer.tsx'
import { call, runJob, type JobReply } from './gateway-calls.ts'
import type { Trial } from './playground.tsx'

const words = playgroundTexts

type MediaKind = 'image' | 'video'

type Attempt = {
  readonly prompt: string
  readonly reply?: JobReply
  readonly sources: readonly string[]
  readonly outcome?: Outcome
}

export function Media({ kind, account, model, onCost, onBody }: Trial & { readonly kind: MediaKind }) {
  const [attempts, setAttempts] = useState<readonly Attempt[]>([])
  const [draft, setDraft] = useState('')
  const [size, setSize] = useState('')
  const [running, setRunning] = useState<AbortController>()
  useEffect(() => () => running?.abort(), [running])
  useEffect(() => onBody(bodyOf(kind, model, draft || words.examplePrompt, size)), [kind, model, draft, size])
  const change = (changed: Partial<Attempt>) =>
    setAttempts(([first, ...others]) => [{ prompt: '', sources: [], ...first, ...changed }, ...others])

  const send = async (prompt: string) => {
    const stop = new AbortController()
    const { signal } = stop
    setRunning(stop)
    setAttempts([{ prompt, sources: [] }, ...attempts])
    const startedAtMs = performance.now()
    let outcome: Outcome = {}
    try {
      const body = bodyOf(kind, model, prompt, size)
      const idempotencyKey = newIdempotencyKey()
      const reply = await runJob({ kind, account, signal, body, idempotencyKey }, (reply, requestId) => {
        if (requestId !== undefined) outcome = { ...outcome, requestId }
        change({ reply })
      })
      outcome = { ...outcome, costUsd: reply.cost_usd }
      onCost(reply.cost_usd)
      change({ sources: await sourcesOf(kind, reply, { account, signal }) })
    } catch (error) {
      outcome = signal.aborted ? { ...outcome, isStopped: true } : { ...outcome, error: error as Error }
    }
    change({ outcome: { ...outcome, totalMs: performance.now() - startedAtMs } })
    setRunning(undefined)
  }
  return (
    <section class="card conversation" aria-label={words.results}>
      <Composer
        label={words.prompt}
        isReady={account !== ''}
        isRunning={running !== undefined}
        onDraft={setDraft}
        onSend={text => void send(text)}
        onStop={() => running?.abort()}
      >
        <TextField
          label={kind === 'image' ? words.imageCount : words.seconds}
          name="size"
          type="number"
          min={1}
          max={kind === 'image' ? 10 : 120}
          hint={kind === 'image' ? words.imageCountHint : words.secondsHint}
          onInput={event => setSize(event.currentTarget.value)}
        />
      </Composer>
      <div class="stack" aria-live="polite">
        {attempts.map((attempt, index) => (
          <AttemptView key={attempts.length - index} kind={kind} attempt={attempt} />
        ))}
      </div>
    </section>
  )
}

function AttemptView({ kind, attempt }: { readonly kind: MediaKind; readonly attempt: Attempt }) {
  const { prompt, reply, sources, outcome } = attempt
  // The browser keeps a clip in memory until its address is revoked.
  useEffect(() => () => sources.forEach(source => URL.revokeObjectURL(source)), [sources])
  return (
    <article class="turn" aria-label={prompt}>
      <p>{prompt}</p>
      {outcome === undefined && (
        <p class="soft">
          {words.working} {reply?.estimated_cost_usd && words.atMost(money(reply.estimated_cost_usd))}
        </p>
      )}
      <div class="pictures">
        {sources.map(source =>
          kind === 'image' ? (
            <img key={source} src={source} alt={prompt} />
          ) : (
            <video key={source} src={source} aria-label={prompt} controls />
          ),
        )}
      </div>
      {outcome !== undefined && <OutcomeLine of={outcome} />}
    </article>
  )
}

function bodyOf(kind: MediaKind, model: string, prompt: string, size: string) {
  const number = size === '' ? {} : kind === 'image' ? { n: Number(size) } : { seconds: size }
  return { model, prompt, ...number }
}

/** The addresses of what a job made. A clip is read with the key, which the browser would not send by itself. */
async function sourcesOf(
  kind: MediaKind,
  reply: JobReply,
  { account, signal }: { readonly account: string; readonly signal: AbortSignal },
): Promise<readonly string[]> {
  if (kind === 'image')
    return (reply.data ?? []).flatMap(({ b64_json: text }) =>
      text === undefined ? [] : [`data:image/png;base64,${text}`],
    )
  const clip = await call({ account, path: `v1/videos/${reply.id}/content`, signal })
  const blob = await clip.blob()
  signal.throwIfAborted()
  return [URL.createObjectURL(blob)]
}
