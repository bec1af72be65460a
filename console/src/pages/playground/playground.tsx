/** Tries a model as a customer would. The account that the operator chooses pays for it. */
import { useState } from 'preact/hooks'
import { answer, api } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import type { components } from '../../api/schema.d.ts'
import { AccountOptions, useAccountSearch } from '../../parts/account-search.tsx'
import { Card, Facts, Tabs } from '../../parts/facts.tsx'
import { useQuery } from '../../parts/filters.tsx'
import { SelectField, TextField } from '../../parts/form.tsx'
import { amountOf, money, nanosOf } from '../../parts/format.ts'
import { Empty, Loaded } from '../../parts/notes.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { playgroundTexts } from './texts.ts'
import { Chat } from './chat.tsx'
import { Media } from './media.tsx'
import { SnippetView } from './snippet-view.tsx'
import type { Kind } from './snippets.ts'

const words = playgroundTexts

const kinds = ['chat', 'image', 'video'] as const satisfies readonly Kind[]

/** The provider that a new gateway has. */
const SANDBOX = 'sandbox'

export type Model = components['schemas']['ModelRow']

export type Trial = {
  readonly account: string
  readonly model: string
  /** Adds what a reply cost to the sum of this page. */
  readonly onCost: (costUsd: string | undefined) => void
  /** What the next request would send, for the code. */
  readonly onBody: (body: Readonly<Record<string, unknown>>) => void
}

export function Playground() {
  const models = useResource('models', () => answer(api.GET('/admin/api/models')))
  return (
    <>
      <PageHead title={words.title} lead={words.lead} />
      <Loaded of={models}>
        {({ data, uncallable }) => {
          const reasons = new Set(uncallable.map(({ id }) => id))
          return <Bench models={data.filter(({ id, enabled }) => enabled && !reasons.has(id))} />
        }}
      </Loaded>
    </>
  )
}

function Bench({ models }: { readonly models: readonly Model[] }) {
  const [query, change] = useQuery()
  const kind = kinds.find(kind => kind === query['kind']) ?? 'chat'
  const fitting = models.filter(model => model.kind === kind)
  const model = fitting.find(({ id }) => id === query['model']) ?? fitting.find(isReal) ?? fitting[0]
  const [account, setAccount] = useState(query['account'] ?? '')
  const [spent, setSpent] = useState(0n)
  const [body, setBody] = useState<Readonly<Record<string, unknown>>>({})
  const trial = {
    account,
    model: model?.id ?? '',
    onCost: (costUsd: string | undefined) => setSpent(sum => sum + nanosOf(costUsd ?? '0')),
    onBody: setBody,
  }
  return (
    <>
      <Tabs
        label={words.kind}
        current={addressOf(kind)}
        tabs={kinds.map(kind => ({ href: addressOf(kind), label: words.kinds[kind] }))}
      />
      {model === undefined ? (
        <Empty title={words.noModel} text={words.noModelText}>
          <a class="button" href="models">
            {words.toModels}
          </a>
        </Empty>
      ) : (
        <div class="bench">
          {kind === 'chat' ? (
            <Chat key={model.id} {...trial} pricing={model.pricing} />
          ) : (
            <Media key={model.id} kind={kind} {...trial} />
          )}
          <div class="stack">
            <Card title={words.setup}>
              <div class="form">
                <AccountField account={account} onChange={setAccount} />
                <SelectField
                  label={words.model}
                  name="model"
                  choices={fitting.map(({ id, display_name: name = id }) => ({ value: id, label: name }))}
                  value={model.id}
                  onChange={id => change({ model: id })}
                />
                <Facts of={[[words.spent, money(amountOf(spent))], ...pricesOf(model)]} />
              </div>
            </Card>
            <Card title={words.code}>
              <SnippetView kind={kind} body={body} />
            </Card>
          </div>
        </div>
      )}
    </>
  )
}

/** Whether it is a model of a provider, and not of the sandbox. */
function isReal({ upstreams }: Model): boolean {
  return upstreams.some(({ provider }) => provider !== SANDBOX)
}

function addressOf(kind: Kind): string {
  return `playground?kind=${kind}`
}

/** The prices of a model that are amounts, each by its name. */
function pricesOf({ pricing }: Model): readonly (readonly [string, string])[] {
  if (pricing === undefined) return []
  if (typeof pricing === 'string') return [[words.price, words.pricings[pricing]]]
  const { prices } = words
  const names = Object.keys(prices) as (keyof typeof prices)[]
  const amounts: Readonly<Record<string, unknown>> = pricing
  return names.flatMap(name => {
    const amount = amounts[name]
    return typeof amount === 'string' ? [[prices[name], money(amount)] as const] : []
  })
}

function AccountField({
  account,
  onChange,
}: {
  readonly account: string
  readonly onChange: (account: string) => void
}) {
  const [typed, setTyped] = useState(account)
  const found = useAccountSearch(typed)
  return (
    <>
      <TextField
        label={words.account}
        name="account"
        hint={words.accountHint}
        list="playground-accounts"
        autoComplete="off"
        defaultValue={account}
        required
        onInput={event => setTyped(event.currentTarget.value.trim())}
        onChange={event => onChange(event.currentTarget.value.trim())}
      />
      <AccountOptions id="playground-accounts" of={found} />
    </>
  )
}
