/** What to do on a gateway that has not served a request yet, one step after the other. */
import { answer, api } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import { Card } from '../../parts/facts.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Loaded } from '../../parts/notes.tsx'
import { hasRole, mayOperate } from '../../session.ts'
import { firstStepsTexts } from './texts.ts'

const words = firstStepsTexts

export function FirstSteps() {
  const done = useResource('first steps', readDone)
  return (
    <Card title={words.title}>
      <div class="stack">
        <p class="soft">{words.text}</p>
        <Loaded of={done} lines={4}>
          {done => {
            const steps = stepsOf(done)
            const next = steps.find(({ isDone }) => !isDone)
            return (
              <ol class="steps">
                {steps.map(step => (
                  <Step key={step.title} {...step} isNext={step === next} />
                ))}
              </ol>
            )
          }}
        </Loaded>
      </div>
    </Card>
  )
}

type Done = Awaited<ReturnType<typeof readDone>>

function stepsOf({ provider, model, hasAccount }: Done) {
  const chosen = { ...(provider !== undefined && { provider }), ...(model !== undefined && { model }) }
  const query = new URLSearchParams(chosen).toString()
  const setUp = query === '' ? 'set-up' : `set-up?${query}`
  return [
    { ...words.provider, href: 'set-up', isDone: provider !== undefined, mayAct: hasRole('owner') },
    { ...words.model, href: setUp, isDone: model !== undefined, mayAct: mayOperate() },
    { ...words.account, href: setUp, isDone: hasAccount, mayAct: mayOperate() },
    { ...words.request, href: 'playground', isDone: false, mayAct: mayOperate() },
  ]
}

/** What there is already. The sandbox, which a new gateway has, does not count. */
async function readDone() {
  const [providers, models, accounts] = await Promise.all([
    answer(api.GET('/admin/api/providers')),
    answer(api.GET('/admin/api/models')),
    answer(api.GET('/admin/api/accounts', { params: { query: { limit: ACCOUNTS_LOOKED_AT } } })),
  ])
  const real = providers.data.filter(({ kind }) => kind !== 'sandbox').map(({ id }) => id)
  const sold = models.data.find(
    ({ enabled, upstreams }) => enabled && upstreams.some(({ provider }) => real.includes(provider)),
  )
  return {
    provider: sold?.upstreams.find(({ provider }) => real.includes(provider))?.provider ?? real[0],
    model: sold?.id,
    hasAccount: accounts.data.some(account => !account.sandbox_only),
  }
}

/** The demo account is among the first ones. */
const ACCOUNTS_LOOKED_AT = 20

function Step({
  title,
  text,
  action,
  href,
  isDone,
  isNext,
  mayAct,
}: {
  readonly title: string
  readonly text: string
  readonly action: string
  readonly href: string
  readonly isDone: boolean
  /** The first step that is not done. */
  readonly isNext: boolean
  readonly mayAct: boolean
}) {
  return (
    <li class={isDone ? 'done' : undefined}>
      <span class="step-mark">
        {isDone && (
          <>
            <Icon name="check" />
            <span class="hidden-text">{words.done}</span>
          </>
        )}
      </span>
      <div>
        <h3>{title}</h3>
        <p class="soft">{text}</p>
      </div>
      {mayAct && (
        <a class={isNext ? 'button small primary' : 'button small'} href={href}>
          {action}
        </a>
      )}
    </li>
  )
}
