/** One price list, or a new one: its factor and its own prices, and how they differ from the prices of the catalog. */
import { useLocation, useRoute } from 'preact-iso'
import { useState } from 'preact/hooks'
import { answer, api, ApiError } from '../../api/client.ts'
import { editFrom, type ReadRow } from '../../api/edit-conflict.ts'
import { useResource } from '../../api/resource.ts'
import type { components } from '../../api/schema.d.ts'
import { pagePath } from '../../base.ts'
import { Confirm } from '../../parts/dialog.tsx'
import { Card, Facts, Money } from '../../parts/facts.tsx'
import { ActionForm, TextArea, TextField, type FormValues } from '../../parts/form.tsx'
import { Empty, Loaded } from '../../parts/notes.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { RowHistory } from '../../parts/row-history.tsx'
import { parsedRow, valueText } from '../../parts/row-form.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { toast } from '../../parts/toast.tsx'
import { mayOperate } from '../../session.ts'
import { priceListsTexts } from './texts.ts'
import { partsTexts, rowsTexts } from '../../parts/texts.ts'

export type PriceListRow = components['schemas']['PriceListRow']
type Preview = components['schemas']['PriceListPreview']
type PriceChange = components['schemas']['PriceChange']

const words = priceListsTexts
const parent = { href: 'price-lists', label: words.title }

async function readList(id: string): Promise<ReadRow<PriceListRow>> {
  const { data, revision } = await answer(api.GET('/admin/api/price-lists'))
  return { row: data.find(row => row.id === id), revision }
}

/** Stores a list; with `isPreview` it only says which prices would change. */
function putList(
  row: PriceListRow,
  read: ReadRow<PriceListRow>,
  isPreview: boolean,
): Promise<PriceListRow | Preview> {
  return editFrom(read, {
    reread: () => readList(row.id),
    changed: rowsTexts.changed(row.id),
    edit: revision => {
      const query = { revision, ...(isPreview && { dry_run: 'true' as const }) }
      const params = { path: { list: row.id }, query }
      return answer(api.PUT('/admin/api/price-lists/{list}', { params, body: row }))
    },
  })
}

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

export function PriceListPage() {
  const id = useRoute().params['list'] ?? ''
  const list = useResource(id, () => readList(id))
  return (
    <>
      <PageHead title={id} parent={parent} />
      <Loaded of={list}>
        {read =>
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
                <Editor key={read.revision} read={read} onStored={list.reload} />
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
  const read = useResource('new price list', () => readList(''))
  return (
    <>
      <PageHead title={words.addTitle} parent={parent} lead={words.addLead} />
      <Loaded of={read}>
        {value => (
          <Editor read={value} onStored={id => route(pagePath(`price-lists/${encodeURIComponent(id)}`))} />
        )}
      </Loaded>
    </>
  )
}

function Editor({
  read,
  onStored,
}: {
  readonly read: ReadRow<PriceListRow>
  readonly onStored: (id: string) => void
}) {
  const { row: before } = read
  const [shown, show] = useState<Shown>()
  return (
    <Card
      title={before === undefined ? words.row : words.edit}
      actions={before !== undefined && <Delete id={before.id} />}
    >
      <ActionForm
        submit={rowsTexts.preview}
        onSubmit={async values => {
          const row = rowOfForm(values, before)
          if (before === undefined && (await readList(row.id)).row !== undefined)
            throw new ApiError(409, rowsTexts.taken(row.id), { param: 'id' })
          show({ row, preview: (await putList(row, read, true)) as Preview })
        }}
      >
        <div class="row-fields">
          {before === undefined && (
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
            defaultValue={before?.factor ?? ''}
          />
        </div>
        <TextArea
          label={words.prices}
          name="prices"
          hint={words.pricesHint}
          defaultValue={textOf(before?.prices)}
          isCode
        />
      </ActionForm>
      {shown !== undefined && (
        <PreviewDialog {...shown} read={read} onStored={onStored} onClose={() => show(undefined)} />
      )}
    </Card>
  )
}

type Shown = { readonly row: PriceListRow; readonly preview: Preview }

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
        await putList(row, read, false)
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
                show({ row, preview: (await putList(row, read, true)) as Preview })
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

function textOf(prices: PriceListRow['prices']): string {
  return prices === undefined || prices === null ? '' : JSON.stringify(prices, null, 2)
}

function rowOfForm(
  { id, factor = '', prices = '' }: FormValues,
  before: PriceListRow | undefined,
): PriceListRow {
  return {
    id: before?.id ?? id ?? '',
    ...(factor !== '' && { factor }),
    ...(prices !== '' && { prices: parsedRow(prices, 'prices') as NonNullable<PriceListRow['prices']> }),
  }
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
