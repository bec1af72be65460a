/** The way of a newcomer: a provider with its key, a test, a model, a customer, and the first request. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useResource } from '../../api/resource.ts'
import { Card } from '../../parts/facts.tsx'
import { useQuery } from '../../parts/filters.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Empty, Loaded } from '../../parts/notes.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { fieldOf, type Row } from '../../parts/row-form.tsx'
import { hasRole } from '../../session.ts'
import { setUpTexts } from './texts.ts'
import { EditProviderForm, NewProviderForm } from '../providers/provider.tsx'
import { readProvider, readProviders } from '../providers/provider-calls.ts'
import { TestCall } from '../providers/provider-state.tsx'
import { FirstCustomer, type Customer } from './first-customer.tsx'
import { FirstModel } from './first-model.tsx'
import { FirstRequest } from './first-request.tsx'

const words = setUpTexts

export function SetUp() {
  const [{ provider = '' }] = useQuery()
  const providers = useResource(`set-up ${provider}`, readProviders)
  return (
    <>
      <PageHead title={words.title} lead={words.lead} />
      <Loaded of={providers}>
        {({ data }) => <Steps providers={data.filter(({ kind }) => kind !== 'sandbox')} />}
      </Loaded>
    </>
  )
}

/** What is chosen is in the address, so that a reload goes on at the same step. */
function Steps({ providers }: { readonly providers: readonly Row[] }) {
  const [{ provider: id, tested, model, customer }, change] = useQuery()
  // The key of the customer is shown once, so it is not in the address.
  const [made, setMade] = useState<Customer>()
  const [hasSent, setSent] = useState(false)
  const provider = providers.find(row => row['id'] === id)
  const chosen = provider === undefined ? undefined : id
  const isTested = tested === 'yes'
  const current = currentStep({ isChosen: provider !== undefined, isTested, model, customer })
  return (
    <ol class="set-up">
      <Step number={1} title={words.provider} current={current} isDone={provider !== undefined}>
        <ProviderStep
          ids={providers.map(row => fieldOf(row, 'id'))}
          id={chosen}
          onChosen={id => change({ provider: id }, 'push')}
          onAgain={() => change({ provider: '', tested: '', model: '', customer: '' })}
        />
      </Step>
      <Step number={2} title={words.test} current={current} isDone={isTested}>
        <TestStep id={chosen} isTested={isTested} onOk={() => change({ tested: 'yes' })} />
      </Step>
      <Step number={3} title={words.model} current={current} isDone={model !== undefined}>
        <ModelStep
          provider={provider}
          id={model}
          onStored={id => change({ model: id }, 'push')}
          onAgain={() => change({ model: '', customer: '' })}
        />
      </Step>
      <Step number={4} title={words.customer} current={current} isDone={customer !== undefined}>
        <CustomerStep
          hasModel={model !== undefined}
          id={customer}
          name={made?.name}
          onMade={customer => {
            setMade(customer)
            change({ customer: customer.account }, 'push')
          }}
          onAgain={() => {
            setSent(false)
            change({ customer: '' })
          }}
        />
      </Step>
      <Step number={5} title={words.request} current={current} isDone={hasSent}>
        {customer === undefined || model === undefined ? (
          <p class="soft">{words.requestText}</p>
        ) : (
          <FirstRequest
            account={customer}
            model={model}
            secret={made?.account === customer ? made.key : undefined}
            onSent={() => setSent(true)}
          />
        )}
      </Step>
    </ol>
  )
}

/** The first step that is not done. */
function currentStep({
  isChosen,
  isTested,
  model,
  customer,
}: {
  readonly isChosen: boolean
  readonly isTested: boolean
  readonly model: string | undefined
  readonly customer: string | undefined
}): number {
  if (!isChosen) return 1
  if (model === undefined) return isTested ? 3 : 2
  return customer === undefined ? 4 : 5
}

function Step({
  number,
  title,
  current,
  isDone,
  children,
}: {
  readonly number: number
  readonly title: string
  readonly current: number
  readonly isDone: boolean
  readonly children: ComponentChildren
}) {
  return (
    <li class={isDone ? 'is-done' : undefined} aria-current={current === number ? 'step' : undefined}>
      <span class="mark" aria-hidden="true">
        {isDone ? <Icon name="check" /> : number}
      </span>
      <Card title={isDone ? words.done(title) : title}>
        <div class="stack">{children}</div>
      </Card>
    </li>
  )
}

type StepProps = {
  /** What was chosen or made in this step, if it is done. */
  readonly id: string | undefined
  readonly onAgain: () => void
}

function ProviderStep({
  ids,
  id,
  onChosen,
  onAgain,
}: StepProps & { readonly ids: readonly string[]; readonly onChosen: (id: string) => void }) {
  return (
    <ChosenOr id={id} page="providers" again={words.another} onAgain={onAgain}>
      <ChooseProvider ids={ids} onChosen={onChosen} />
    </ChosenOr>
  )
}

function TestStep({
  id,
  isTested,
  onOk,
}: {
  readonly id: string | undefined
  readonly isTested: boolean
  readonly onOk: () => void
}) {
  if (id === undefined) return <p class="soft">{words.testText}</p>
  return <Test key={id} id={id} isTested={isTested} onOk={onOk} />
}

function ModelStep({
  provider,
  id,
  onStored,
  onAgain,
}: StepProps & { readonly provider: Row | undefined; readonly onStored: (id: string) => void }) {
  return (
    <ChosenOr id={id} page="models" again={words.anotherModel} onAgain={onAgain}>
      <p class="soft">{words.modelText}</p>
      {provider !== undefined && (
        <FirstModel key={fieldOf(provider, 'id')} provider={provider} onStored={onStored} />
      )}
    </ChosenOr>
  )
}

function CustomerStep({
  hasModel,
  id,
  name = words.openCustomer,
  onMade,
  onAgain,
}: StepProps & {
  readonly hasModel: boolean
  readonly name: string | undefined
  readonly onMade: (customer: Customer) => void
}) {
  return (
    <ChosenOr id={id} name={name} page="accounts" again={words.anotherCustomer} onAgain={onAgain}>
      <p class="soft">{words.customerText}</p>
      {hasModel && <FirstCustomer onMade={onMade} />}
    </ChosenOr>
  )
}

/** What was made in a step and the way to choose again, or how to make it. */
function ChosenOr({
  id,
  name = id,
  page,
  again,
  onAgain,
  children,
}: {
  readonly id: string | undefined
  readonly name?: string | undefined
  /** The page of what was made is below this one. */
  readonly page: string
  readonly again: string
  readonly onAgain: () => void
  readonly children: ComponentChildren
}) {
  if (id === undefined) return <>{children}</>
  return (
    <p class="row">
      <a href={`${page}/${encodeURIComponent(id)}`}>{name}</a>
      <button type="button" class="button small" onClick={onAgain}>
        {again}
      </button>
    </p>
  )
}

function ChooseProvider({
  ids,
  onChosen,
}: {
  readonly ids: readonly string[]
  readonly onChosen: (id: string) => void
}) {
  return (
    <>
      {ids.length > 0 && (
        <div class="row">
          <span class="soft">{words.use}</span>
          {ids.map(id => (
            <button key={id} type="button" class="button small" onClick={() => onChosen(id)}>
              {id}
            </button>
          ))}
        </div>
      )}
      {hasRole('owner') ? (
        <NewProviderForm onStored={onChosen} />
      ) : (
        ids.length === 0 && <Empty title={words.needsOwner} text={words.needsOwnerText} />
      )}
    </>
  )
}

/** After a failed test, the address and the key are changed here. */
function Test({
  id,
  isTested,
  onOk,
}: {
  readonly id: string
  readonly isTested: boolean
  readonly onOk: () => void
}) {
  const [hasFailed, setFailed] = useState(false)
  const [isEditing, setEditing] = useState(false)
  // What an earlier test said is not about the provider as it is stored now.
  const [edits, setEdits] = useState(0)
  const stored = () => {
    setEditing(false)
    setFailed(false)
    setEdits(edits + 1)
  }
  const done = (isOk: boolean) => {
    setFailed(!isOk)
    if (isOk) onOk()
  }
  return (
    <>
      <TestCall key={edits} id={id} onDone={done} />
      {hasFailed && !isTested && (
        <>
          <p class="soft">{words.testFailed}</p>
          {hasRole('owner') && !isEditing && (
            <p>
              <button type="button" class="button small" onClick={() => setEditing(true)}>
                {words.changeProvider}
              </button>
            </p>
          )}
        </>
      )}
      {isEditing && <ChangeProvider id={id} onStored={stored} />}
    </>
  )
}

function ChangeProvider({ id, onStored }: { readonly id: string; readonly onStored: () => void }) {
  const provider = useResource(id, () => readProvider(id))
  return (
    <Loaded of={provider} lines={3}>
      {read => read.row !== undefined && <EditProviderForm id={id} read={read} onStored={onStored} />}
    </Loaded>
  )
}
