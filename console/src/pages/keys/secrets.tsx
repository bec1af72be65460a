/** The secrets of a key: rotation, and the end of a secret. */
import { useState } from 'preact/hooks'
import { answer, api } from '../../api/client.ts'
import { Confirm, Dialog } from '../../parts/dialog.tsx'
import { Ago, Badge, Card } from '../../parts/facts.tsx'
import { ActionForm, SelectField } from '../../parts/form.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { toast } from '../../parts/toast.tsx'
import { mayOperate } from '../../session.ts'
import { keysTexts } from './texts.ts'
import { partsTexts } from '../../parts/texts.ts'
import { SecretDialog } from './new-key.tsx'
import type { ListedKey } from './key-fields.tsx'

const words = keysTexts

type KeySecret = ListedKey['secrets'][number]

export function Secrets({
  of: { id, secrets, revoked_at: revokedAt },
  onChanged,
}: {
  readonly of: ListedKey
  readonly onChanged: () => void
}) {
  const [ending, setEnding] = useState<string>()
  const isLive = ({ has_ended: hasEnded }: KeySecret) => !hasEnded && revokedAt === null
  const mayEnd = mayOperate() && secrets.filter(isLive).length > 1
  const columns: readonly Column<KeySecret>[] = mayEnd
    ? [
        ...listed,
        {
          label: partsTexts.actions,
          show: secret =>
            isLive(secret) && (
              <button
                type="button"
                class="button small destructive"
                aria-label={words.endSecretOf(secret.prefix)}
                onClick={() => setEnding(secret.prefix)}
              >
                {words.endSecret}
              </button>
            ),
        },
      ]
    : listed
  return (
    <Card title={words.secrets}>
      <div class="stack">
        <p class="soft">{words.secretsText}</p>
        <Table label={words.secrets} rows={secrets} columns={columns} keyOf={({ prefix }) => prefix} />
      </div>
      {ending !== undefined && (
        <Confirm
          title={words.endSecretTitle(ending)}
          action={words.endSecret}
          onConfirm={async () => {
            const params = { path: { id, secret: ending } }
            await answer(api.POST('/admin/api/keys/{id}/secrets/{secret}/revoke', { params }))
            toast(words.secretEnded)
            onChanged()
          }}
          onClose={() => setEnding(undefined)}
        >
          <p>{words.endSecretText}</p>
        </Confirm>
      )}
    </Card>
  )
}

const listed: readonly Column<KeySecret>[] = [
  { label: words.secret, show: ({ prefix }) => <code>{prefix}…</code> },
  { label: words.created, show: ({ created_at: at }) => <Ago at={at} /> },
  {
    label: words.ends,
    show: ({ ends_at: at, has_ended: hasEnded }) => {
      if (at === null) return words.never
      return hasEnded ? <Badge tone="bad">{words.ended}</Badge> : <Ago at={at} />
    },
  },
]

/** When the old secret ends, in seconds. */
const ends = ['0', '3600', '86400', '604800', '2592000'] as const

/** Gives a key a new secret, and shows it once. */
export function Rotate({
  id,
  onClose,
  onRotated,
}: {
  readonly id: string
  readonly onClose: () => void
  readonly onRotated: () => void
}) {
  const [text, setText] = useState<string>()
  if (text !== undefined) return <SecretDialog title={words.rotatedTitle} text={text} onClose={onClose} />
  return (
    <Dialog title={words.rotateTitle} onClose={onClose}>
      <ActionForm
        submit={words.rotate}
        onCancel={onClose}
        onSubmit={async ({ old_ends_in: seconds }) => {
          const params = { path: { id } }
          const body = { old_ends_in: Number(seconds) }
          const { key } = await answer(api.POST('/admin/api/keys/{id}/rotate', { params, body }))
          setText(key)
          onRotated()
        }}
      >
        <p>{words.rotateText}</p>
        <SelectField
          label={words.oldEnds}
          name="old_ends_in"
          value="86400"
          choices={ends.map(value => ({ value, label: words.endsIn[value] }))}
        />
      </ActionForm>
    </Dialog>
  )
}
