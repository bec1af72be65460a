/** The first request of a customer: the code for it, and what it cost as soon as it was sent. */
import { useEffect } from 'preact/hooks'
import { answer, api } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import { Secret } from '../../parts/facts.tsx'
import { money } from '../../parts/format.ts'
import { Loaded, Note } from '../../parts/notes.tsx'
import { fieldOf } from '../../parts/row-form.tsx'
import { texts } from '../../texts.ts'
import { readModel } from '../models/model-calls.ts'
import { SnippetView } from '../playground/snippet-view.tsx'
import type { Kind } from '../playground/snippets.ts'

const words = texts.setUp

export function FirstRequest({
  account,
  model,
  secret,
  onSent,
}: {
  readonly account: string
  readonly model: string
  /** The text of the key. Undefined after a reload. */
  readonly secret: string | undefined
  readonly onSent: () => void
}) {
  const read = useResource(model, () => readModel(model))
  return (
    <>
      {secret === undefined ? (
        <p class="soft">
          {words.keyGone} <a href={`accounts/${encodeURIComponent(account)}/keys`}>{words.toKeys}</a>
        </p>
      ) : (
        <>
          <p>{texts.keys.shownOnce}</p>
          <Secret text={secret} label={texts.keys.copyKey} />
        </>
      )}
      <Loaded of={read} lines={3}>
        {({ row }) => {
          const kind = row === undefined ? 'chat' : (fieldOf(row, 'kind') as Kind)
          return <SnippetView kind={kind} body={exampleOf(kind, model)} secret={secret} />
        }}
      </Loaded>
      <Answered account={account} onSent={onSent} />
    </>
  )
}

function exampleOf(kind: Kind, model: string) {
  return kind === 'chat'
    ? { model, messages: [{ role: 'user', content: words.hello }] }
    : { model, prompt: words.prompt }
}

const LOOK_AGAIN_MS = 2000

/** Looks for the first request until there is one. */
function Answered({ account, onSent }: { readonly account: string; readonly onSent: () => void }) {
  const requests = useResource(account, () =>
    answer(api.GET('/admin/api/requests', { params: { query: { account, limit: 1 } } })),
  )
  const { value, isLoading, reload } = requests
  const request = value?.data[0]
  useEffect(() => {
    if (request !== undefined) onSent()
  }, [request])
  useEffect(() => {
    if (isLoading || request !== undefined) return undefined
    const timer = setTimeout(reload, LOOK_AGAIN_MS)
    return () => clearTimeout(timer)
  }, [isLoading, request, reload])
  if (request === undefined)
    return (
      <p class="soft" role="status">
        {words.waiting}
      </p>
    )
  const { id, status, cost_usd: cost } = request
  return (
    <Note tone={status < 400 ? 'good' : 'warn'}>
      <p role="status">{status < 400 ? words.charged(money(cost)) : words.refused(String(status))}</p>
      <p>
        <a href={`requests/${id}`}>{words.toRequest}</a> · <a href="./">{words.toOverview}</a>
      </p>
    </Note>
  )
}
