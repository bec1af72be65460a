/** What to do on a gateway that has not served a request yet, one step after the other. */
import { answer, api } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import { Card } from '../../parts/facts.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Loaded } from '../../parts/notes.tsx'
import { hasRole, mayOperate } from '../../session.ts'
import { texts } from '../../texts.ts'

const words = texts.firstSteps

export function FirstSteps() {
  const done = useResource('first steps', readDone)
  return (
    <Card title={words.title}>
      <div class="stack">
        <p class="soft">{words.text}</p>
        <Loaded of={done} lines={4}>
          {({ hasProvider, hasModel, hasAccount }) => (
            <ol class="steps">
              <Step {...words.provider} href="providers" isDone={hasProvider} mayAct={hasRole('owner')} />
              <Step {...words.model} href="models" isDone={hasModel} mayAct={mayOperate()} />
              <Step {...words.account} href="accounts" isDone={hasAccount} mayAct={mayOperate()} />
              <Step {...words.request} href="playground" isDone={false} mayAct={mayOperate()} />
            </ol>
          )}
        </Loaded>
      </div>
    </Card>
  )
}

async function readDone() {
  const [providers, models, accounts] = await Promise.all([
    answer(api.GET('/admin/api/providers')),
    answer(api.GET('/admin/api/models')),
    answer(api.GET('/admin/api/accounts', { params: { query: { limit: 1 } } })),
  ])
  return {
    hasProvider: providers.data.length > 0,
    hasModel: models.data.some(({ enabled }) => enabled),
    hasAccount: accounts.data.length > 0,
  }
}

function Step({
  title,
  text,
  action,
  href,
  isDone,
  mayAct,
}: {
  readonly title: string
  readonly text: string
  readonly action: string
  readonly href: string
  readonly isDone: boolean
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
        <a class="button small" href={href}>
          {action}
        </a>
      )}
    </li>
  )
}
