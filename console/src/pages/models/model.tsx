/** One model, or a new one: its form, or the whole row as JSON. An edit shows first what it changes. */
import { useLocation, useRoute } from 'preact-iso'
import { useState } from 'preact/hooks'
import { answer, api, ApiError } from '../../api/client.ts'
import type { ReadRow } from '../../api/edit-conflict.ts'
import { useResource } from '../../api/resource.ts'
import { pagePath } from '../../base.ts'
import { Confirm } from '../../parts/dialog.tsx'
import { Badge, Card, Code, Facts } from '../../parts/facts.tsx'
import { ActionForm } from '../../parts/form.tsx'
import { Empty, Loaded, Note } from '../../parts/notes.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { RowHistory } from '../../parts/row-history.tsx'
import { RowJson, RowViewSwitch, useRowView, type Row } from '../../parts/row-form.tsx'
import { toast } from '../../parts/toast.tsx'
import { mayOperate } from '../../session.ts'
import { modelsTexts } from './texts.ts'
import { rowsTexts } from '../../parts/texts.ts'
import { previewModel, readModel, readProviders, storeModel, type ModelPreview } from './model-calls.ts'
import { ModelFields, rowOfForm } from './model-fields.tsx'
import { PreviewDialog } from './model-preview.tsx'
import { Margin } from './models.tsx'
import { priceText, type Kind } from './prices.ts'

const words = modelsTexts
const parent = { href: 'models', label: words.title }

export function ModelPage() {
  const id = useRoute().params['model'] ?? ''
  const model = useResource(id, async () => {
    const [read, { data: providers }] = await Promise.all([readModel(id), readProviders()])
    return { read, providers: providers.map(provider => provider.id) }
  })
  return (
    <>
      <PageHead title={id} parent={parent} />
      <Loaded of={model}>
        {({ read, providers }) =>
          read.row === undefined ? (
            <Empty title={words.absent(id)} text={words.absentText}>
              <a class="button" href="models">
                {words.title}
              </a>
              <History id={id} read={read} onStored={model.reload} />
            </Empty>
          ) : (
            <Shown id={id} read={read} row={read.row} providers={providers} onChanged={model.reload} />
          )
        }
      </Loaded>
    </>
  )
}

export function NewModel() {
  const resource = useResource('new model', async () => {
    const [{ revision }, { data }] = await Promise.all([readModel(''), readProviders()])
    // The first one is chosen, and few models are sold from the sandbox.
    const byUse = data.toSorted((a, b) => Number(a.kind === 'sandbox') - Number(b.kind === 'sandbox'))
    return { read: { row: undefined, revision }, providers: byUse.map(({ id }) => id) }
  })
  const { route } = useLocation()
  return (
    <>
      <PageHead title={words.addTitle} parent={parent} lead={words.addLead} />
      <Loaded of={resource}>
        {({ read, providers }) =>
          providers.length === 0 ? (
            <Empty title={words.noProvider} text={words.noProviderText}>
              <a class="button primary" href="set-up">
                {words.setUp}
              </a>
            </Empty>
          ) : (
            <Editor
              read={read}
              row={{ kind: 'chat', enabled: true }}
              providers={providers}
              onStored={id => route(pagePath(`models/${encodeURIComponent(id)}`))}
            />
          )
        }
      </Loaded>
    </>
  )
}

type Props = {
  readonly id: string
  readonly read: ReadRow<Row> & { readonly problem: string | undefined }
  readonly row: Row
  readonly providers: readonly string[]
  readonly onChanged: () => void
}

function Shown({ id, read, row, providers, onChanged }: Props) {
  const isOn = row['enabled'] !== false
  const upstreams = row['upstreams'] as readonly Row[]
  return (
    <div class="stack">
      {read.problem !== undefined && <Note tone={isOn ? 'bad' : 'warn'}>{read.problem}</Note>}
      <Card
        title={words.selling}
        actions={mayOperate() && <Switch id={id} isOn={isOn} onChanged={onChanged} />}
      >
        <Facts
          of={[
            [words.state, <Badge tone={isOn ? 'good' : 'plain'}>{words.states[isOn ? 'on' : 'off']}</Badge>],
            [words.kind, words.kinds[row['kind'] as Kind]],
            [words.price, priceText(row)],
            [words.margin, <Margin of={row} />],
            [
              words.upstreams,
              upstreams.map(({ provider, model }) => (
                <div key={`${String(provider)} ${String(model)}`}>
                  <a href={`providers/${encodeURIComponent(String(provider))}`}>{String(provider)}</a>{' '}
                  <code>{String(model)}</code>
                </div>
              )),
            ],
          ]}
        />
      </Card>
      {mayOperate() ? (
        <Editor
          key={read.revision}
          read={read}
          row={row}
          providers={providers}
          onStored={() => onChanged()}
        />
      ) : (
        <Card title={words.row}>
          <Code text={JSON.stringify(row, null, 2)} label={words.row} />
        </Card>
      )}
      <History key={`history ${read.revision}`} id={id} read={read} onStored={onChanged} />
    </div>
  )
}

/** The edits of the model. An earlier row comes back like an edit: after a preview. */
function History({
  id,
  read,
  onStored,
}: {
  readonly id: string
  readonly read: ReadRow<Row>
  readonly onStored: () => void
}) {
  const [shown, show] = useState<{ readonly row: Row; readonly preview: ModelPreview }>()
  return (
    <>
      <RowHistory
        kind="model"
        id={id}
        current={read.row}
        onBringBack={
          mayOperate() ? async row => show({ row, preview: await previewModel(id, row, read) }) : undefined
        }
      />
      {shown !== undefined && (
        <PreviewDialog
          id={id}
          preview={shown.preview}
          onClose={() => show(undefined)}
          onStore={async () => {
            await storeModel(id, shown.row, read)
            toast(words.stored(id))
            onStored()
          }}
        />
      )}
    </>
  )
}

function Editor({
  read,
  row: base,
  providers,
  onStored,
}: {
  readonly read: ReadRow<Row>
  readonly row: Row
  readonly providers: readonly string[]
  readonly onStored: (id: string) => void
}) {
  const [view, setView] = useRowView()
  const [shown, show] = useState<{ readonly row: Row; readonly preview: ModelPreview }>()
  const isNew = read.row === undefined
  const idOf = (row: Row) => (typeof row['id'] === 'string' ? row['id'] : '')
  const preview = async (row: Row) => {
    const id = idOf(row)
    // The id in the JSON can be changed to that of another model.
    const isOther = isNew || id !== idOf(base)
    if (isOther && (await readModel(id)).row !== undefined)
      throw new ApiError(409, rowsTexts.taken(id), { param: 'id' })
    show({ row, preview: await previewModel(id, row, read) })
  }
  return (
    <Card title={isNew ? words.row : words.edit} actions={<RowViewSwitch view={view} onChange={setView} />}>
      {view === 'json' ? (
        <RowJson row={base} submit={rowsTexts.preview} onSubmit={preview} />
      ) : (
        <ActionForm submit={rowsTexts.preview} onSubmit={values => preview(rowOfForm(base, values))}>
          <ModelFields row={base} isNew={isNew} providers={providers} />
        </ActionForm>
      )}
      {shown !== undefined && (
        <PreviewDialog
          id={idOf(shown.row)}
          preview={shown.preview}
          onClose={() => show(undefined)}
          onStore={async () => {
            const id = idOf(shown.row)
            await storeModel(id, shown.row, read)
            toast(words.stored(id))
            onStored(id)
          }}
        />
      )}
    </Card>
  )
}

function Switch({
  id,
  isOn,
  onChanged,
}: {
  readonly id: string
  readonly isOn: boolean
  readonly onChanged: () => void
}) {
  const [asked, ask] = useState<'switch' | 'delete'>()
  const { route } = useLocation()
  const params = { path: { model: id } }
  return (
    <>
      <button type="button" class="button small" onClick={() => ask('switch')}>
        {isOn ? words.switchOff : words.switchOn}
      </button>
      <button type="button" class="button small destructive" onClick={() => ask('delete')}>
        {words.delete}
      </button>
      {asked === 'switch' && (
        <Confirm
          title={isOn ? words.offTitle(id) : words.onTitle(id)}
          action={isOn ? words.switchOff : words.switchOn}
          isDanger={isOn}
          onConfirm={async () => {
            await answer(api.PATCH('/admin/api/models/{model}', { params, body: { enabled: !isOn } }))
            toast(words.stored(id))
            onChanged()
          }}
          onClose={() => ask(undefined)}
        >
          <p>{isOn ? words.offText : words.onText}</p>
        </Confirm>
      )}
      {asked === 'delete' && (
        <Confirm
          title={words.deleteTitle(id)}
          action={words.delete}
          onConfirm={async () => {
            await answer(api.DELETE('/admin/api/models/{model}', { params }))
            toast(words.deleted(id))
            route(pagePath('models'))
          }}
          onClose={() => ask(undefined)}
        >
          <p>{words.deleteText}</p>
        </Confirm>
      )}
    </>
  )
}
