import type { components } from '../../api/schema.d.ts'
import { OnceDialog } from '../../parts/dialog.tsx'
import { CheckField, TextField, type FormValues } from '../../parts/form.tsx'
import { webhooksTexts } from './texts.ts'

const words = webhooksTexts

export type Webhook = components['schemas']['Webhook']
export type EventType = Webhook['events'][number]

/** The events that a webhook can ask for. A test message goes to any webhook. */
const eventTypes = (Object.keys(words.events) as EventType[]).filter(type => type !== 'webhook.test')

export const webhookTones = { on: 'good', off: 'plain', switched_off: 'bad' } as const satisfies Record<
  Webhook['state'],
  string
>

/** The fields that can be changed later. */
export function WebhookFields({ webhook }: { readonly webhook?: Webhook }) {
  return (
    <>
      <TextField
        label={words.url}
        name="url"
        type="url"
        hint={words.urlHint}
        defaultValue={webhook?.url}
        placeholder="https://example.com/tollgate"
        autoComplete="off"
        required
      />
      <TextField
        label={words.note}
        name="note"
        defaultValue={webhook?.note}
        maxLength={500}
        autoComplete="off"
      />
      <fieldset>
        <legend>{words.eventTypes}</legend>
        <p class="soft">{words.eventTypesHint}</p>
        <div class="choices">
          {eventTypes.map(type => (
            <CheckField
              key={type}
              label={type}
              name={type}
              hint={words.events[type]}
              isChecked={webhook?.events.includes(type) ?? false}
            />
          ))}
        </div>
      </fieldset>
    </>
  )
}

/** The chosen events of the form. */
export function chosenEvents(values: FormValues): EventType[] {
  return eventTypes.filter(type => values[type] === 'on')
}

/** Shows a new secret once. */
export function SecretDialog({ secret, onClose }: { readonly secret: string; readonly onClose: () => void }) {
  return (
    <OnceDialog
      title={words.secretTitle}
      lead={words.secretText}
      text={secret}
      copy={words.copySecret}
      done={words.secretKept}
      onClose={onClose}
    />
  )
}
