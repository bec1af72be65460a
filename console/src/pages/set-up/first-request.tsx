/** The first request of a customer: the code for it, and what it cost as soon as it was sent. */
import { useEffect } from 'preact/hooks'
import { answer, api } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import { Secret } from '../../parts/facts.tsx'
import { money } from '../../parts/format.ts'
import { Loaded, Note } from '../../parts/notes.tsx'
import { fieldOf } from '../../parts/row-form.tsx'
import { keysTexts } from '../keys/texts.ts'
import { setUpTexts } from './texts.ts'
import { readModel } from '../models/model-calls.ts'
import { SnippetView } from '../playground/snippet-view.tsx'
import type { Kind } from '../playground/snippets.ts'

const words = setUpTexts

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
          <p>{keysTexts.shownOnce}</p>
          <Secret text={secret} label={keysTexts.copyKey} />
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

/** How many of the newest requests are looked at. A customer may be refused a few times before the first charge. */
const LOOKED_AT = 20

/** Looks for the first request that was charged until there is one, and says meanwhile that another was refused. */
function Answered({ account, onSent }: { readonly account: string; readonly onSent: () => void }) {
  const requests = useResource(account, () =>
    answer(api.GET('/admin/api/requests', { params: { query: { account, limit: LOOKED_AT } } })),
  )
  const { value, isLoading, reload } = requests
  const charged = value?.data.find(({ status, cost_usd: cost }) => status < 300 && cost !== null)
  const refused = value?.data.find(({ status }) => status >= 400)
  const isDone = charged !== undefined
  useEffect(() => {
    if (isDone) onSent()
  }, [isDone])
  useEffect(() => {
    if (isLoading || isDone) return undefined
    const timer = setTimeout(reload, LOOK_AGAIN_MS)
    return () => clearTimeout(timer)
  }, [isLoading, isDone, reload])
  if (charged !== undefined)
    return (
      <Note tone="good">
        <p role="status">{words.charged(money(charged.cost_usd))}</p>
        <p>
          <a href={`requests/${charged.id}`}>{words.toRequest}</a> · <a href="./">{words.toOverview}</a>
        </p>
      </Note>
    )
  return (
    <>
      {refused !== undefined && (
        <Note tone="warn">
          <p role="status">{words.refused(String(refused.status))}</p>
          <p>
            <a href={`requests/${refused.id}`}>{words.toReason}</a>
          </p>
        </Note>
      )}
      <p class="soft" role="status">
        {words.waiting}
      </p>
    </>
  )
}
