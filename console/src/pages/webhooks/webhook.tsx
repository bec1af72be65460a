/** One webhook: its settings, its secret, and the messages that it got. */
import { useLocation, useRoute } from 'preact-iso'
import { useState } from 'preact/hooks'
import { answer, api } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import { pagePath } from '../../base.ts'
import { Confirm, Dialog } from '../../parts/dialog.tsx'
import { Ago, Badge, Card, Facts, Instant, Secret } from '../../parts/facts.tsx'
import { ActionForm, messageOf, SelectField } from '../../parts/form.tsx'
import { count } from '../../parts/format.ts'
import { Loaded, Note } from '../../parts/notes.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Subject } from '../../parts/subject.tsx'
import { toast } from '../../parts/toast.tsx'
import { mayOperate } from '../../session.ts'
import { webhooksTexts } from './texts.ts'
import { partsTexts } from '../../parts/texts.ts'
import { Deliveries } from './deliveries.tsx'
import { chosenEvents, SecretDialog, WebhookFields, webhookTones, type Webhook } from './webhook-form.tsx'

const words = webhooksTexts

export function WebhookPage() {
  const id = useRoute().params['webhook'] ?? ''
  const webhook = useResource(id, () => answer(api.GET('/admin/api/webhooks/{webhook}', at(id))))
  // A test message appears in the list of messages.
  const [tests, setTests] = useState(0)
  return (
    <>
      <PageHead
        title={webhook.value?.url ?? words.one}
        parent={{ href: 'webhooks', label: words.title }}
        lead={<Secret text={id} label={words.copyId} />}
      >
        {mayOperate() && webhook.value !== undefined && (
          <Actions
            webhook={webhook.value}
            onChanged={webhook.reload}
            onTested={() => setTests(tests => tests + 1)}
          />
        )}
      </PageHead>
      <Loaded of={webhook}>
        {value => (
          <div class="stack">
            <About webhook={value} />
            <Deliveries id={value.id} key={tests} />
          </div>
        )}
      </Loaded>
    </>
  )
}

/** The parameters of a path about one webhook. */
function at(webhook: string) {
  return { params: { path: { webhook } } }
}

function About({ webhook }: { readonly webhook: Webhook }) {
  const { state, account, failing_since: failing, old_secret_ends_at: oldEnds } = webhook
  return (
    <>
      {state === 'switched_off' && <Note tone="bad">{words.switchedOffText}</Note>}
      <Card title={words.settings}>
        <Facts
          of={[
            [words.state, <Badge tone={webhookTones[state]}>{words.states[state]}</Badge>],
            [words.owner, account === null ? words.operator : <Subject id={account} />],
            [words.eventTypes, <Events of={webhook.events} />],
            [words.note, webhook.note === '' ? '–' : webhook.note],
            [words.failing, failing === null ? words.no : <Ago at={failing} />],
            ...(oldEnds === null ? [] : [[words.oldSecretEnds, <Instant at={oldEnds} />] as const]),
            ...(webhook.dropped === 0 ? [] : [[words.dropped, count(webhook.dropped)] as const]),
            [words.created, <Instant at={webhook.created_at} />],
          ]}
        />
      </Card>
    </>
  )
}

function Events({ of: events }: { readonly of: Webhook['events'] }) {
  return (
    <span class="row">
      {events.map(type => (
        <Badge key={type}>{type}</Badge>
      ))}
    </span>
  )
}

type Props = { readonly webhook: Webhook; readonly onChanged: () => void }
type Asked = 'edit' | 'rotate' | 'off' | 'remove'

function Actions({ webhook, onChanged, onTested }: Props & { readonly onTested: () => void }) {
  const [asked, ask] = useState<Asked>()
  const [secret, setSecret] = useState<string>()
  const close = () => ask(undefined)
  const switchTo = async (on: boolean) => {
    await answer(api.PATCH('/admin/api/webhooks/{webhook}', { ...at(webhook.id), body: { on } }))
    toast(on ? words.switchedOn : words.switchedOff)
    onChanged()
  }
  return (
    <>
      <Test webhook={webhook} onTested={onTested} />
      <button type="button" class="button" onClick={() => ask('edit')}>
        {words.edit}
      </button>
      <button type="button" class="button" onClick={() => ask('rotate')}>
        {words.rotate}
      </button>
      {webhook.state === 'on' ? (
        <button type="button" class="button" onClick={() => ask('off')}>
          {words.switchOff}
        </button>
      ) : (
        <button type="button" class="button" onClick={() => reported(switchTo(true))}>
          {words.switchOn}
        </button>
      )}
      <button type="button" class="button destructive" onClick={() => ask('remove')}>
        {words.remove}
      </button>
      {asked === 'edit' && <Edit webhook={webhook} onClose={close} onChanged={onChanged} />}
      {asked === 'rotate' && (
        <Rotate
          webhook={webhook}
          onClose={close}
          onRotated={made => {
            close()
            setSecret(made)
            onChanged()
          }}
        />
      )}
      {asked === 'off' && (
        <Confirm
          title={words.offTitle}
          action={words.switchOff}
          onConfirm={() => switchTo(false)}
          onClose={close}
        >
          <p>{words.offText}</p>
        </Confirm>
      )}
      {asked === 'remove' && <Remove webhook={webhook} onClose={close} />}
      {secret !== undefined && <SecretDialog secret={secret} onClose={() => setSecret(undefined)} />}
    </>
  )
}

function Test({ webhook, onTested }: Pick<Props, 'webhook'> & { readonly onTested: () => void }) {
  const [isTesting, setTesting] = useState(false)
  const test = async () => {
    setTesting(true)
    try {
      await answer(api.POST('/admin/api/webhooks/{webhook}/test', at(webhook.id)))
      toast(words.tested)
      onTested()
    } catch (error) {
      toast(messageOf(error as Error), 'bad')
    }
    setTesting(false)
  }
  return (
    <button type="button" class="button" disabled={isTesting} onClick={() => void test()}>
      {words.test}
    </button>
  )
}

/** Says why an action without a form failed. */
function reported(action: Promise<void>): void {
  action.catch((error: Error) => toast(messageOf(error), 'bad'))
}

function Edit({ webhook, onClose, onChanged }: Props & { readonly onClose: () => void }) {
  return (
    <Dialog title={words.editTitle} isWide onClose={onClose}>
      <ActionForm
        submit={partsTexts.save}
        onCancel={onClose}
        onSubmit={async values => {
          const { url = '', note = '' } = values
          const body = { url, note, events: chosenEvents(values) }
          await answer(api.PATCH('/admin/api/webhooks/{webhook}', { ...at(webhook.id), body }))
          toast(partsTexts.saved)
          onChanged()
          onClose()
        }}
      >
        <WebhookFields webhook={webhook} />
      </ActionForm>
    </Dialog>
  )
}

const HOUR_S = 3600

function Rotate({
  webhook,
  onClose,
  onRotated,
}: {
  readonly webhook: Webhook
  readonly onClose: () => void
  readonly onRotated: (secret: string) => void
}) {
  return (
    <Dialog title={words.rotateTitle} onClose={onClose}>
      <ActionForm
        submit={words.rotate}
        onCancel={onClose}
        onSubmit={async ({ old_ends_in: seconds }) => {
          const body = { old_ends_in: Number(seconds) }
          const { secret } = await answer(
            api.POST('/admin/api/webhooks/{webhook}/rotate', { ...at(webhook.id), body }),
          )
          onRotated(secret)
        }}
      >
        <p>{words.rotateText}</p>
        <SelectField
          label={words.oldEndsIn}
          name="old_ends_in"
          value={String(24 * HOUR_S)}
          choices={[
            { value: '0', label: words.oldEnds.now },
            { value: String(HOUR_S), label: words.oldEnds.hour },
            { value: String(24 * HOUR_S), label: words.oldEnds.day },
            { value: String(7 * 24 * HOUR_S), label: words.oldEnds.week },
          ]}
        />
      </ActionForm>
    </Dialog>
  )
}

function Remove({ webhook, onClose }: { readonly webhook: Webhook; readonly onClose: () => void }) {
  const { route } = useLocation()
  return (
    <Confirm
      title={words.removeTitle}
      action={words.remove}
      onConfirm={async () => {
        await answer(api.DELETE('/admin/api/webhooks/{webhook}', at(webhook.id)))
        toast(words.removed)
        route(pagePath('webhooks'))
      }}
      onClose={onClose}
    >
      <p>{words.removeText}</p>
    </Confirm>
  )
}
