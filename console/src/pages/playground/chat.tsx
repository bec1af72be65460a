/** A conversation with a chat model, streamed. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError } from '../../api/client.ts'
import { Badge } from '../../parts/facts.tsx'
import { count, milliseconds, money } from '../../parts/format.ts'
import { messageOf } from '../../parts/form.tsx'
import { playgroundTexts } from './texts.ts'
import { call, chatEvents, requestIdOf, type Message } from './gateway-calls.ts'
import { Composer } from './composer.tsx'
import { estimatedCost, tokensOf } from './estimate.ts'
import type { Model, Trial } from './playground.tsx'

const words = playgroundTexts

export type Outcome = {
  readonly costUsd?: string | undefined
  readonly tokens?: number
  readonly firstMs?: number
  readonly totalMs?: number
  readonly requestId?: string | undefined
  readonly error?: Error
  readonly isStopped?: boolean
}

type Turn = Message & { readonly outcome?: Outcome }

const OUTPUT_TOKENS_MAX = 1024

export function Chat({
  account,
  model,
  pricing,
  onCost,
  onBody,
}: Trial & { readonly pricing: Model['pricing'] }) {
  const [turns, setTurns] = useState<readonly Turn[]>([])
  const [draft, setDraft] = useState('')
  const [running, setRunning] = useState<AbortController>()
  const end = useRef<HTMLDivElement>(null)
  useEffect(() => () => running?.abort(), [running])
  useEffect(() => end.current?.scrollIntoView({ block: 'nearest' }), [turns])
  useEffect(() => {
    // Without a draft, the code is that of the last request.
    const asked = draft === '' && turns.at(-1)?.role === 'assistant' ? turns.slice(0, -1) : turns
    onBody(bodyOf(model, asked, draft))
  }, [model, turns, draft])

  const change = (changed: Partial<Turn>) =>
    setTurns(turns => [...turns.slice(0, -1), { ...answerOf(turns), ...changed }])

  const send = async (text: string) => {
    const stop = new AbortController()
    const body = bodyOf(model, turns, text)
    setRunning(stop)
    setDraft('')
    setTurns([...turns, { role: 'user', content: text }, { role: 'assistant', content: '' }])
    const startedAtMs = performance.now()
    const passedMs = () => performance.now() - startedAtMs
    let content = ''
    let outcome: Outcome = {}
    try {
      const response = await call({ account, path: 'v1/chat/completions', signal: stop.signal, body })
      outcome = { requestId: requestIdOf(response) }
      for await (const event of chatEvents(response)) {
        if (event.kind === 'usage') {
          outcome = { ...outcome, costUsd: event.costUsd, tokens: event.tokens }
          onCost(event.costUsd)
          continue
        }
        if (content === '') outcome = { ...outcome, firstMs: passedMs() }
        content += event.text
        change({ content })
      }
    } catch (error) {
      outcome = stop.signal.aborted ? { ...outcome, isStopped: true } : { ...outcome, error: error as Error }
    }
    change({ content, outcome: { ...outcome, totalMs: passedMs() } })
    setRunning(undefined)
  }
  return (
    <section class="card conversation" aria-label={words.conversation}>
      <div class="turns" role="log" aria-label={words.conversation} tabIndex={0}>
        {turns.length === 0 && <p class="soft">{words.chatEmpty}</p>}
        {turns.map((turn, index) => (
          <article key={index} class={`turn ${turn.role}`} aria-label={words.roles[turn.role]}>
            <h2>{words.roles[turn.role]}</h2>
            <p>{turn.content}</p>
            {turn.outcome !== undefined && <OutcomeLine of={turn.outcome} />}
            {turn.role === 'assistant' && turn.outcome === undefined && (
              <CostSoFar pricing={pricing} asked={turns.slice(0, index)} answer={turn.content} />
            )}
          </article>
        ))}
        <div ref={end} />
      </div>
      <Composer
        label={words.message}
        isReady={account !== ''}
        isRunning={running !== undefined}
        onDraft={setDraft}
        onSend={text => void send(text)}
        onStop={() => running?.abort()}
        onClear={turns.length > 0 ? () => setTurns([]) : undefined}
      />
    </section>
  )
}

/** While an answer arrives, its cost is not known. The exact one replaces this line when the answer ends. */
function CostSoFar({
  pricing,
  asked,
  answer,
}: {
  readonly pricing: Model['pricing']
  readonly asked: readonly Message[]
  readonly answer: string
}) {
  if (answer === '') return null
  const tokens = { input: tokensOf(asked.map(({ content }) => content).join('')), output: tokensOf(answer) }
  const cost = estimatedCost(pricing, tokens)
  const output = count(tokens.output)
  return (
    // Not read aloud: the text beside it is, and this changes with each piece of it.
    <div class="outcome" aria-live="off">
      <span class="soft number">
        {cost === undefined ? words.estimateOfTokens(output) : words.estimate(money(cost), output)}
      </span>
    </div>
  )
}

/** The answer that is arriving, which is the last turn. */
function answerOf(turns: readonly Turn[]): Turn {
  return turns.at(-1) ?? { role: 'assistant', content: '' }
}

/** Answers that failed are left out, so that a conversation can go on after an error. */
function bodyOf(model: string, turns: readonly Turn[], draft: string) {
  const told = turns.filter(({ content, outcome }) => content !== '' && outcome?.error === undefined)
  const messages: readonly Message[] = [
    ...told.map(({ role, content }) => ({ role, content })),
    ...(draft === '' && told.length > 0 ? [] : [{ role: 'user' as const, content: draft || words.hello }]),
  ]
  return {
    model,
    max_tokens: OUTPUT_TOKENS_MAX,
    messages,
    stream: true,
    stream_options: { include_usage: true },
  }
}

/** How a request ended, with a link to its page. */
export function OutcomeLine({ of }: { readonly of: Outcome }) {
  const { costUsd, tokens, firstMs, totalMs, requestId, error, isStopped } = of
  const id = requestId ?? (error instanceof ApiError ? error.requestId : undefined)
  return (
    <div class="outcome">
      {error !== undefined && (
        <p role="alert" class="outcome-error">
          <Badge tone="bad">{error instanceof ApiError ? error.code : words.error}</Badge> {messageOf(error)}
        </p>
      )}
      {isStopped === true && <Badge tone="warn">{words.stopped}</Badge>}
      <span class="soft number">
        {[
          costUsd !== undefined && money(costUsd),
          tokens !== undefined && words.tokens(count(tokens)),
          firstMs !== undefined && words.firstToken(milliseconds(firstMs)),
          totalMs !== undefined && words.total(milliseconds(totalMs)),
        ]
          .filter(part => part !== false)
          .join(' · ')}
      </span>
      {id !== undefined && <a href={`requests/${id}`}>{words.toRequest}</a>}
    </div>
  )
}
