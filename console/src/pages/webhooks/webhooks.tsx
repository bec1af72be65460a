/** The addresses that get signed messages about events. */
import { useState } from 'preact/hooks'
import { answer, api } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import { AccountFilter } from '../../parts/account-search.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Ago, Badge } from '../../parts/facts.tsx'
import { Filters, NoRows, useQuery } from '../../parts/filters.tsx'
import { ActionForm, TextField } from '../../parts/form.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Empty, Loaded } from '../../parts/notes.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Subject } from '../../parts/subject.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { mayOperate } from '../../session.ts'
import { webhooksTexts } from './texts.ts'
import { chosenEvents, SecretDialog, WebhookFields, webhookTones, type Webhook } from './webhook-form.tsx'

const words = webhooksTexts

const columns: readonly Column<Webhook>[] = [
  { label: words.url, show: ({ id, url }) => <a href={`webhooks/${id}`}>{url}</a>, sortBy: ({ url }) => url },
  {
    label: words.state,
    show: ({ state }) => <Badge tone={webhookTones[state]}>{words.states[state]}</Badge>,
    sortBy: ({ state }) => state,
  },
  {
    label: words.owner,
    show: ({ account }) => (account === null ? words.operator : <Subject id={account} />),
    sortBy: ({ account }) => account ?? '',
  },
  { label: words.eventTypes, show: ({ events }) => String(events.length), isNumber: true },
  { label: words.failing, show: ({ failing_since: at }) => (at === null ? words.no : <Ago at={at} />) },
  { label: words.note, show: ({ note }) => note, mayWrap: true },
]

export function Webhooks() {
  const [{ account }] = useQuery()
  const webhooks = useResource(account ?? '', () =>
    answer(api.GET('/admin/api/webhooks', { params: { query: account === undefined ? {} : { account } } })),
  )
  const [isAdding, setAdding] = useState(false)
  const [secret, setSecret] = useState<string>()
  const add = mayOperate() && (
    <button type="button" class="button primary" onClick={() => setAdding(true)}>
      <Icon name="plus" />
      {words.add}
    </button>
  )
  return (
    <>
      <PageHead title={words.title} lead={words.lead}>
        {add}
      </PageHead>
      <Filters>
        <AccountFilter label={words.account} />
      </Filters>
      <Loaded of={webhooks}>
        {({ data }) =>
          data.length === 0 ? (
            <NoRows names={['account']}>
              <Empty title={words.empty} text={words.emptyText}>
                {add}
              </Empty>
            </NoRows>
          ) : (
            <Table label={words.title} rows={data} columns={columns} keyOf={({ id }) => id} />
          )
        }
      </Loaded>
      {isAdding && (
        <AddWebhook
          onClose={() => setAdding(false)}
          onAdded={made => {
            setAdding(false)
            setSecret(made)
            webhooks.reload()
          }}
        />
      )}
      {secret !== undefined && <SecretDialog secret={secret} onClose={() => setSecret(undefined)} />}
    </>
  )
}

function AddWebhook({
  onClose,
  onAdded,
}: {
  readonly onClose: () => void
  readonly onAdded: (secret: string) => void
}) {
  return (
    <Dialog title={words.addTitle} isWide onClose={onClose}>
      <ActionForm
        submit={words.add}
        onCancel={onClose}
        onSubmit={async values => {
          const { url = '', note = '', account = '' } = values
          const events = chosenEvents(values)
          const body = {
            url,
            note,
            ...(account !== '' && { account }),
            ...(events.length > 0 && { events }),
          }
          const { secret } = await answer(api.POST('/admin/api/webhooks', { body }))
          onAdded(secret)
        }}
      >
        <TextField label={words.account} name="account" hint={words.ownerHint} autoComplete="off" />
        <WebhookFields />
      </ActionForm>
    </Dialog>
  )
}
