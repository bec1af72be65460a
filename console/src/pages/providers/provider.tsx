/** One provider, or a new one. Only owners change providers, because they have the keys. */
import { useLocation, useRoute } from 'preact-iso'
import { useState } from 'preact/hooks'
import { answer, api, ApiError } from '../../api/client.ts'
import type { ReadRow } from '../../api/edit-conflict.ts'
import { useResource } from '../../api/resource.ts'
import { pagePath } from '../../base.ts'
import { Confirm } from '../../parts/dialog.tsx'
import { Card, Code, Facts } from '../../parts/facts.tsx'
import { ActionForm, SelectField, TextField } from '../../parts/form.tsx'
import { Empty, Loaded, Note } from '../../parts/notes.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { FieldChanges, fieldOf, RowJson, RowViewSwitch, useRowView, type Row } from '../../parts/row-form.tsx'
import { RowHistory } from '../../parts/row-history.tsx'
import { toast } from '../../parts/toast.tsx'
import { hasRole } from '../../session.ts'
import { providersTexts } from './texts.ts'
import { partsTexts, rowsTexts } from '../../parts/texts.ts'
import { known, type Known } from './known.ts'
import {
  previewProvider,
  readProvider,
  readProviders,
  storeProvider,
  type ProviderPreview,
} from './provider-calls.ts'
import { keyOf, ProviderFields, rowOfForm } from './provider-fields.tsx'
import { StateCard } from './provider-state.tsx'

const words = providersTexts
const parent = { href: 'providers', label: words.title }

type Read = Awaited<ReturnType<typeof readProvider>>

export function ProviderPage() {
  const id = useRoute().params['provider'] ?? ''
  const provider = useResource(id, () => readProvider(id))
  return (
    <>
      <PageHead title={id} parent={parent} />
      <Loaded of={provider}>
        {read =>
          read.row === undefined ? (
            <Empty title={words.absent(id)} text={words.absentText}>
              <a class="button" href="providers">
                {words.title}
              </a>
              <History id={id} read={read} onStored={provider.reload} />
            </Empty>
          ) : (
            <div class="stack">
              <div class="grid">
                {read.state !== undefined && <StateCard state={read.state} />}
                {hasRole('owner') ? (
                  <Edit key={read.revision} id={id} read={read} row={read.row} onChanged={provider.reload} />
                ) : (
                  <Settings row={read.row} />
                )}
              </div>
              <History key={`history ${read.revision}`} id={id} read={read} onStored={provider.reload} />
            </div>
          )
        }
      </Loaded>
    </>
  )
}

/** The edits of the provider. An earlier row comes back after a preview, with the key that is stored now. */
function History({
  id,
  read,
  onStored,
}: {
  readonly id: string
  readonly read: Read
  readonly onStored: () => void
}) {
  const [shown, show] = useState<{ readonly row: Row; readonly preview: ProviderPreview }>()
  return (
    <>
      <RowHistory
        kind="provider"
        id={id}
        current={read.row}
        onBringBack={
          hasRole('owner')
            ? async row => show({ row, preview: await previewProvider(id, row, read) })
            : undefined
        }
      />
      {shown !== undefined && (
        <Confirm
          title={words.preview(id)}
          action={partsTexts.save}
          isDanger={shown.preview.loses_key}
          isWide
          onConfirm={async () => {
            await storeProvider(id, shown.row, read)
            toast(words.stored(id))
            onStored()
          }}
          onClose={() => show(undefined)}
        >
          <PreviewOfRow of={shown.preview} />
        </Confirm>
      )}
    </>
  )
}

function PreviewOfRow({ of: { is_new: isNew, fields, loses_key: losesKey } }: { of: ProviderPreview }) {
  return (
    <>
      {!isNew && fields.length === 0 && <p>{rowsTexts.nothingChanges}</p>}
      {fields.length > 0 && <FieldChanges of={fields} label={rowsTexts.changes} />}
      {losesKey && <Note tone="warn">{rowsTexts.losesKey}</Note>}
      <p class="soft">{rowsTexts.keyStays}</p>
    </>
  )
}

function Settings({ row }: { readonly row: Row }) {
  return (
    <Card title={words.settings}>
      <div class="stack">
        <Facts
          of={[
            [words.kind, fieldOf(row, 'kind')],
            [words.baseUrl, fieldOf(row, 'base_url') || '–'],
            [words.key, words.keys[keyOf(row)]],
          ]}
        />
        <Code text={JSON.stringify(row, null, 2)} label={rowsTexts.json} />
        <p class="soft">{words.onlyOwners}</p>
      </div>
    </Card>
  )
}

type EditProps = {
  readonly id: string
  readonly read: Read
  readonly row: Row
  readonly onChanged: () => void
}

function Edit({ id, read, row, onChanged }: EditProps) {
  const [view, setView] = useRowView()
  const [isDeleting, setDeleting] = useState(false)
  const { route } = useLocation()
  const store = async (changed: Row) => {
    await storeProvider(id, changed, read)
    toast(words.stored(id))
    onChanged()
  }
  const isSandbox = row['kind'] === 'sandbox'
  return (
    <Card title={words.settings} actions={<RowViewSwitch view={view} onChange={setView} />}>
      <div class="stack">
        {view === 'json' ? (
          <RowJson row={row} submit={partsTexts.save} onSubmit={store} />
        ) : isSandbox ? (
          <p class="soft">{words.sandbox}</p>
        ) : (
          <>
            <Facts of={[[words.kind, fieldOf(row, 'kind')]]} />
            <EditProviderForm id={id} read={read} onStored={onChanged} />
          </>
        )}
        <p>
          <button type="button" class="button small destructive" onClick={() => setDeleting(true)}>
            {words.delete}
          </button>
        </p>
      </div>
      {isDeleting && (
        <Confirm
          title={words.deleteTitle(id)}
          action={words.delete}
          onConfirm={async () => {
            const params = { path: { provider: id } }
            await answer(api.DELETE('/admin/api/providers/{provider}', { params }))
            toast(words.deleted(id))
            route(pagePath('providers'))
          }}
          onClose={() => setDeleting(false)}
        >
          <p>{words.deleteText}</p>
        </Confirm>
      )}
    </Card>
  )
}

/** The address and the key of a provider. */
export function EditProviderForm({
  id,
  read,
  onStored,
}: {
  readonly id: string
  readonly read: ReadRow<Row>
  readonly onStored: () => void
}) {
  const { row = {} } = read
  return (
    <ActionForm
      submit={partsTexts.save}
      onSubmit={async values => {
        await storeProvider(id, rowOfForm(row, values), read)
        toast(words.stored(id))
        onStored()
      }}
    >
      <ProviderFields row={row} hasAddress={row['base_url'] !== undefined} />
    </ActionForm>
  )
}

export function NewProvider() {
  const { route } = useLocation()
  return (
    <>
      <PageHead title={words.addTitle} parent={parent} lead={words.addLead} />
      <Card title={words.settings}>
        <NewProviderForm onStored={id => route(pagePath(`providers/${encodeURIComponent(id)}`))} />
      </Card>
    </>
  )
}

/** A known service gives the form its defaults. */
export function NewProviderForm({ onStored }: { readonly onStored: (id: string) => void }) {
  const providers = useResource('providers', readProviders)
  const [chosen, choose] = useState<Known>(known[0] as Known)
  return (
    <Loaded of={providers} lines={3}>
      {({ data, revision }) => {
        const isTaken = data.some(({ id }) => id === chosen.id)
        return (
          <ActionForm
            submit={words.create}
            onSubmit={async entered => {
              const { service: _, id = '', ...values } = entered
              if (data.some(provider => provider.id === id))
                throw new ApiError(409, rowsTexts.taken(id), { param: 'id' })
              await storeProvider(id, rowOfForm({ id, ...chosen.row }, values), { row: undefined, revision })
              toast(words.stored(id))
              onStored(id)
            }}
          >
            <SelectField
              label={words.service}
              name="service"
              value={chosen.id}
              choices={known.map(({ id, name }) => ({ value: id, label: name }))}
              onChange={id => choose(known.find(service => service.id === id) ?? chosen)}
            />
            <TextField
              key={`${chosen.id} id`}
              label={words.id}
              name="id"
              hint={words.idHint}
              pattern="[A-Za-z0-9._\-]+"
              defaultValue={isTaken ? `${chosen.id}-2` : chosen.id}
              autoComplete="off"
              required
            />
            <ProviderFields
              key={chosen.id}
              row={chosen.row}
              hasAddress={chosen.row['base_url'] !== undefined}
              {...(chosen.variable !== undefined && { variable: chosen.variable })}
            />
          </ActionForm>
        )
      }}
    </Loaded>
  )
}
