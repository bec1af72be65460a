/**
 * One price list, or a new one: its form, or the whole row as JSON, and how its prices differ from those of the catalog.
 * An edit shows first what it changes.
 */
import { useLocation, useRoute } from 'preact-iso'
import { useState } from 'preact/hooks'
import { answer, api, ApiError } from '../../api/client.ts'
import type { ReadRow } from '../../api/edit-conflict.ts'
import { useResource } from '../../api/resource.ts'
import { pagePath } from '../../base.ts'
import { Confirm } from '../../parts/dialog.tsx'
import { Card, Facts, Money } from '../../parts/facts.tsx'
import { ActionForm, TextField } from '../../parts/form.tsx'
import { Empty, Loaded } from '../../parts/notes.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { RowHistory } from '../../parts/row-history.tsx'
import { RowJson, RowViewSwitch, useRowView, valueText } from '../../parts/row-form.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { toast } from '../../parts/toast.tsx'
import { mayOperate } from '../../session.ts'
import { readModels } from '../models/model-calls.ts'
import { priceListsTexts } from './texts.ts'
import { partsTexts, rowsTexts } from '../../parts/texts.ts'
import { OwnPriceFields } from './own-price-fields.tsx'
import { ownPricesOf, rowOfForm, type ModelRows } from './own-prices.ts'
import {
  previewList,
  readList,
  storeList,
  type PriceChange,
  type PriceListPreview,
  type PriceListRow,
} from './price-list-calls.ts'

const words = priceListsTexts
const parent = { href: 'price-lists', label: words.title }

const columns: readonly Column<PriceChange>[] = [
  { label: words.model, show: ({ model }) => <a href={`models/${encodeURIComponent(model)}`}>{model}</a> },
  { label: words.of, mayWrap: true, show: ({ example }) => <span class="soft">{example.of}</span> },
  { label: words.catalogPrice, isNumber: true, show: ({ example }) => <Money of={example.before_usd} /> },
  { label: words.listPrice, isNumber: true, show: ({ example }) => <Money of={example.after_usd} /> },
]

const previewColumns: readonly Column<PriceChange>[] = [
  { label: words.model, show: ({ model }) => model },
  { label: words.pricesAfter, mayWrap: true, show: ({ after }) => <code>{valueText(after.pricing)}</code> },
  { label: words.of, mayWrap: true, show: ({ example }) => <span class="soft">{example.of}</span> },
  { label: rowsTexts.before, isNumber: true, show: ({ example }) => <Money of={example.before_usd} /> },
  { label: rowsTexts.after, isNumber: true, show: ({ example }) => <Money of={example.after_usd} /> },
]

async function readWithModels(
  id: string,
): Promise<{ readonly read: ReadRow<PriceListRow>; readonly models: ModelRows }> {
  const [read, { data }] = await Promise.all([readList(id), readModels()])
  return { read, models: new Map(data.map(model => [model.id, model])) }
}

export function PriceListPage() {
  const id = useRoute().params['list'] ?? ''
  const list = useResource(id, () => readWithModels(id))
  return (
    <>
      <PageHead title={id} parent={parent} />
      <Loaded of={list}>
        {({ read, models }) =>
          read.row === undefined ? (
            <Empty title={words.absent(id)} text={words.absentText}>
              <a class="button" href="price-lists">
                {words.title}
              </a>
              <History id={id} read={read} onStored={list.reload} />
            </Empty>
          ) : (
            <div class="stack">
              {mayOperate() ? (
                <Editor
                  key={read.revision}
                  read={read}
                  row={read.row}
                  models={models}
                  onStored={list.reload}
                />
              ) : (
                <Card title={words.row}>
                  <Facts of={[[words.factor, read.row.factor ?? '–']]} />
                </Card>
              )}
              <Differences key={`${read.revision} differences`} id={id} />
              <History key={`${read.revision} history`} id={id} read={read} onStored={list.reload} />
            </div>
          )
        }
      </Loaded>
    </>
  )
}

/** The models whose price in this list is not that of the catalog. */
function Differences({ id }: { readonly id: string }) {
  const changes = useResource(id, () =>
    answer(api.GET('/admin/api/price-lists/{list}/changes', { params: { path: { list: id } } })),
  )
  return (
    <section class="stack" aria-label={words.differences}>
      <h2>{words.differences}</h2>
      <Loaded of={changes} lines={3}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title={words.noDifference} text={words.noDifferenceText} />
          ) : (
            <Table label={words.differences} rows={data} columns={columns} keyOf={({ model }) => model} />
          )
        }
      </Loaded>
    </section>
  )
}

export function NewPriceList() {
  const { route } = useLocation()
  const resource = useResource('new price list', () => readWithModels(''))
  return (
    <>
      <PageHead title={words.addTitle} parent={parent} lead={words.addLead} />
      <Loaded of={resource}>
        {({ read, models }) => (
          <Editor
            read={read}
            row={{ id: '' }}
            models={models}
            onStored={id => route(pagePath(`price-lists/${encodeURIComponent(id)}`))}
          />
        )}
      </Loaded>
    </>
  )
}

function Editor({
  read,
  row: base,
  models,
  onStored,
}: {
  readonly read: ReadRow<PriceListRow>
  readonly row: PriceListRow
  readonly models: ModelRows
  readonly onStored: (id: string) => void
}) {
  const [view, setView] = useRowView()
  const [shown, show] = useState<Shown>()
  const isNew = read.row === undefined
  const preview = async (row: PriceListRow) => {
    // The id in the JSON can be changed to that of another list.
    const isOther = isNew || row.id !== base.id
    if (isOther && (await readList(row.id)).row !== undefined)
      throw new ApiError(409, rowsTexts.taken(row.id), { param: 'id' })
    show({ row, preview: await previewList(row, read) })
  }
  return (
    <Card
      title={isNew ? words.row : words.edit}
      actions={
        <>
          <RowViewSwitch view={view} onChange={setView} />
          {!isNew && <Delete id={base.id} />}
        </>
      }
    >
      {view === 'json' ? (
        <RowJson
          row={base}
          submit={rowsTexts.preview}
          onSubmit={row => preview({ ...row, id: typeof row['id'] === 'string' ? row['id'] : '' })}
        />
      ) : (
        <ListForm row={base} isNew={isNew} models={models} onSubmit={preview} />
      )}
      {shown !== undefined && (
        <PreviewDialog {...shown} read={read} onStored={onStored} onClose={() => show(undefined)} />
      )}
    </Card>
  )
}

function ListForm({
  row,
  isNew,
  models,
  onSubmit,
}: {
  readonly row: PriceListRow
  readonly isNew: boolean
  readonly models: ModelRows
  readonly onSubmit: (row: PriceListRow) => Promise<void>
}) {
  const [own, setOwn] = useState(() => ownPricesOf(row, models))
  return (
    <ActionForm submit={rowsTexts.preview} onSubmit={values => onSubmit(rowOfForm(row, own, values))}>
      <div class="row-fields">
        {isNew && (
          <TextField
            label={words.name}
            name="id"
            pattern="[A-Za-z0-9._\-]+"
            hint={words.nameHint}
            autoComplete="off"
            required
          />
        )}
        <TextField
          label={words.factor}
          name="factor"
          hint={words.factorHint}
          inputMode="decimal"
          pattern="\d+(\.\d{1,9})?"
          defaultValue={row.factor ?? ''}
        />
      </div>
      <OwnPriceFields own={own} models={models} onChange={setOwn} />
    </ActionForm>
  )
}

type Shown = { readonly row: PriceListRow; readonly preview: PriceListPreview }

/** Which prices a row changes, before it is stored. */
function PreviewDialog({
  row,
  preview,
  read,
  onStored,
  onClose,
}: Shown & {
  readonly read: ReadRow<PriceListRow>
  readonly onStored: (id: string) => void
  readonly onClose: () => void
}) {
  return (
    <Confirm
      title={words.preview(row.id)}
      action={partsTexts.save}
      isDanger={false}
      isWide
      onConfirm={async () => {
        await storeList(row, read)
        toast(words.stored(row.id))
        onStored(row.id)
      }}
      onClose={onClose}
    >
      {preview.changes.length === 0 ? (
        <p>{words.noPriceChanges}</p>
      ) : (
        <Table
          label={rowsTexts.changes}
          rows={preview.changes}
          columns={previewColumns}
          keyOf={({ model }) => model}
        />
      )}
      <p class="soft">{words.takesEffect}</p>
    </Confirm>
  )
}

/** The edits of the list. An earlier row comes back like an edit: after a preview. */
function History({
  id,
  read,
  onStored,
}: {
  readonly id: string
  readonly read: ReadRow<PriceListRow>
  readonly onStored: () => void
}) {
  const [shown, show] = useState<Shown>()
  return (
    <>
      <RowHistory
        kind="price_list"
        id={id}
        current={read.row}
        onBringBack={
          mayOperate()
            ? async earlier => {
                const row = { ...earlier, id }
                show({ row, preview: await previewList(row, read) })
              }
            : undefined
        }
      />
      {shown !== undefined && (
        <PreviewDialog {...shown} read={read} onStored={onStored} onClose={() => show(undefined)} />
      )}
    </>
  )
}

function Delete({ id }: { readonly id: string }) {
  const [isAsking, setAsking] = useState(false)
  const { route } = useLocation()
  return (
    <>
      <button type="button" class="button small destructive" onClick={() => setAsking(true)}>
        {words.delete}
      </button>
      {isAsking && (
        <Confirm
          title={words.deleteTitle(id)}
          action={words.delete}
          onConfirm={async () => {
            const params = { path: { list: id } }
            await answer(api.DELETE('/admin/api/price-lists/{list}', { params }))
            toast(words.deleted(id))
            route(pagePath('price-lists'))
          }}
          onClose={() => setAsking(false)}
        >
          <p>{words.deleteText}</p>
        </Confirm>
      )}
    </>
  )
}
