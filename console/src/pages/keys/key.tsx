/** One key: what it may use, its secrets, limits and state. */
import { useRoute } from 'preact-iso'
import { useState } from 'preact/hooks'
import { answer, api } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import type { components } from '../../api/schema.d.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { Confirm, Dialog } from '../../parts/dialog.tsx'
import { Card, Facts, Instant, Secret } from '../../parts/facts.tsx'
import { ActionForm, TextField } from '../../parts/form.tsx'
import { day } from '../../parts/format.ts'
import { Loaded } from '../../parts/notes.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { toast } from '../../parts/toast.tsx'
import { mayOperate } from '../../session.ts'
import { keysTexts } from './texts.ts'
import { partsTexts } from '../../parts/texts.ts'
import { ModelLimits } from '../limits/model-limits.tsx'
import { TermsCard } from '../limits/terms-card.tsx'
import {
  ExpiryField,
  expiryIn,
  restrictionFacts,
  RestrictionFields,
  restrictionsIn,
  type LimitedKey,
} from './key-fields.tsx'
import { KeyBadge, stateOf } from './key-table.tsx'
import { Rotate, Secrets } from './secrets.tsx'

const words = keysTexts

/** A key with its account, which only the search names, and the name of its project. */
type Owned = LimitedKey & {
  readonly account: string | null
  readonly account_name: string | null
  readonly project_name: string | undefined
}

async function readKey(id: string): Promise<Owned> {
  const [key, { account, account_name }] = await Promise.all([
    answer(api.GET('/admin/api/keys/{id}', at(id))),
    answer(api.POST('/admin/api/keys/find', { body: { key: id } })),
  ])
  const params = { path: { project: key.project ?? '' } }
  const project =
    key.project === null ? undefined : await answer(api.GET('/admin/api/projects/{project}', { params }))
  return { ...key, account, account_name, project_name: project?.name }
}

/** The parameters of a path about one key. */
function at(id: string) {
  return { params: { path: { id } } }
}

export function KeyPage() {
  const id = useRoute().params['key'] ?? ''
  const key = useResource(id, () => readKey(id))
  const change = async (body: components['schemas']['KeyChange']) => {
    const { warnings = [] } = await answer(api.PATCH('/admin/api/keys/{id}', { ...at(id), body }))
    for (const warning of warnings) toast(warning, 'warn')
    key.reload()
  }
  const { value } = key
  return (
    <>
      <PageHead title={value?.name || id} parent={parentOf(value)}>
        {value !== undefined && mayOperate() && value.revoked_at === null && (
          <Actions owned={value} onChange={change} onChanged={key.reload} />
        )}
      </PageHead>
      <Loaded of={key}>
        {owned => {
          const isClosed = owned.revoked_at !== null
          return (
            <div class="stack">
              <div class="grid">
                <About owned={owned} onChange={change} />
                <Secrets of={owned} onChanged={key.reload} />
              </div>
              <TermsCard terms={owned} isClosed={isClosed} onSave={change} />
              <ModelLimits
                perModel={owned.per_model}
                isClosed={isClosed}
                onSave={per_model => change({ per_model })}
              />
            </div>
          )
        }}
      </Loaded>
    </>
  )
}

function parentOf(key: Owned | undefined) {
  const account = key?.account ?? null
  return account === null
    ? { href: 'keys', label: words.title }
    : { href: `accounts/${account}/keys`, label: words.keysOf(key?.account_name ?? account) }
}

type Change = (body: components['schemas']['KeyChange']) => Promise<void>

type ActionProps = {
  readonly owned: Owned
  readonly onChange: Change
  readonly onChanged: () => void
}

function Actions({ owned, onChange, onChanged }: ActionProps) {
  const [asking, ask] = useState<Asking>()
  const close = () => ask(undefined)
  const isDisabled = owned.disabled_at !== null
  return (
    <>
      {stateOf(owned) !== 'expired' && (
        <button type="button" class="button primary" onClick={() => ask('rotate')}>
          {words.rotate}
        </button>
      )}
      {isDisabled ? (
        <ActionButton
          onPress={async () => {
            await onChange({ disabled: false })
            toast(words.enabled)
          }}
        >
          {words.enable}
        </ActionButton>
      ) : (
        <button type="button" class="button" onClick={() => ask('disable')}>
          {words.disable}
        </button>
      )}
      <button type="button" class="button destructive" onClick={() => ask('revoke')}>
        {words.revoke}
      </button>
      {asking !== undefined && (
        <Asked about={asking} owned={owned} onChange={onChange} onChanged={onChanged} onClose={close} />
      )}
    </>
  )
}

type Asking = 'rotate' | 'disable' | 'revoke'

function Asked({
  about,
  owned,
  onChange,
  onChanged,
  onClose,
}: ActionProps & { readonly about: Asking; readonly onClose: () => void }) {
  const name = owned.name || owned.id
  switch (about) {
    case 'rotate':
      return <Rotate id={owned.id} onClose={onClose} onRotated={onChanged} />
    case 'disable':
      return (
        <Confirm
          title={words.disableTitle(name)}
          action={words.disable}
          onConfirm={async () => {
            await onChange({ disabled: true })
            toast(words.disabled)
          }}
          onClose={onClose}
        >
          <p>{words.disableText}</p>
        </Confirm>
      )
    case 'revoke':
      return (
        <Confirm
          title={words.revokeTitle(name)}
          action={words.revoke}
          onConfirm={async () => {
            await answer(api.POST('/admin/api/keys/{id}/revoke', at(owned.id)))
            toast(words.revoked)
            onChanged()
          }}
          onClose={onClose}
        >
          <p>{words.revokeText}</p>
        </Confirm>
      )
  }
}

function About({ owned, onChange }: { readonly owned: Owned; readonly onChange: Change }) {
  const [isEditing, setEditing] = useState(false)
  const { account, project, last_used_on: usedOn, expires_at: expiresAt } = owned
  const edit = mayOperate() && owned.revoked_at === null && (
    <button type="button" class="button small" onClick={() => setEditing(true)}>
      {words.edit}
    </button>
  )
  return (
    <Card title={words.key} actions={edit}>
      <Facts
        of={[
          [words.state, <KeyBadge of={owned} />],
          [words.id, <Secret text={owned.id} />],
          [words.account, account === null ? '–' : <a href={`accounts/${account}`}>{owned.account_name}</a>],
          ...(project === null
            ? []
            : [[words.project, <a href={`projects/${project}`}>{owned.project_name}</a>] as const]),
          [words.created, <Instant at={owned.created_at} />],
          [words.lastUsed, usedOn === null ? words.never : day(usedOn)],
          [words.requests, <a href={`requests?key=${owned.id}`}>{words.showRequests}</a>],
          [words.expires, expiresAt === null ? words.never : <Instant at={expiresAt} />],
          ...restrictionFacts(owned),
        ]}
      />
      {isEditing && <Edit owned={owned} onChange={onChange} onClose={() => setEditing(false)} />}
    </Card>
  )
}

function Edit({
  owned,
  onChange,
  onClose,
}: {
  readonly owned: Owned
  readonly onChange: Change
  readonly onClose: () => void
}) {
  return (
    <Dialog title={words.edit} isWide onClose={onClose}>
      <ActionForm
        submit={partsTexts.save}
        onCancel={onClose}
        onSubmit={async values => {
          const { name = '' } = values
          // An unchanged expiry may have passed, or have seconds that the field does not show.
          const expiry = isSameMinute(expiryIn(values), owned.expires_at)
            ? {}
            : { expires_at: expiryIn(values) }
          await onChange({
            ...(name !== owned.name && { name }),
            ...expiry,
            ...restrictionsIn(values),
          })
          toast(words.saved)
          onClose()
        }}
      >
        <p class="soft">{words.emptyIsFree}</p>
        <TextField label={words.name} name="name" defaultValue={owned.name} maxLength={100} required />
        <ExpiryField at={owned.expires_at} />
        <RestrictionFields restrictions={owned} />
      </ActionForm>
    </Dialog>
  )
}

const MS_A_MINUTE = 60_000

function isSameMinute(one: string | null, other: string | null): boolean {
  if (one === null || other === null) return one === other
  const minute = (iso: string) => Math.floor(new Date(iso).getTime() / MS_A_MINUTE)
  return minute(one) === minute(other)
}
