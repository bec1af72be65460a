/** The limits and budgets of an account or a key for single models. */
import { useState } from 'preact/hooks'
import { answer, api } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import { Confirm, Dialog } from '../../parts/dialog.tsx'
import { Card, Money } from '../../parts/facts.tsx'
import { ActionForm, TextField } from '../../parts/form.tsx'
import { count } from '../../parts/format.ts'
import { Table, type Column } from '../../parts/table.tsx'
import { toast } from '../../parts/toast.tsx'
import { mayOperate } from '../../session.ts'
import { limitsTexts } from './texts.ts'
import { partsTexts } from '../../parts/texts.ts'
import { periods, rates, TermFields, termsIn, type Terms } from './term-fields.tsx'
import type { UsedTerms } from './terms-card.tsx'

const words = limitsTexts

type ModelRow = { readonly model: string; readonly terms: UsedTerms }
export type ModelTermsChange = Readonly<Record<string, Terms | null>>

type Asking = { readonly kind: 'add' } | { readonly kind: 'edit' | 'remove'; readonly row: ModelRow }

export function ModelLimits({
  perModel,
  isClosed = false,
  onSave,
}: {
  readonly perModel: Readonly<Record<string, UsedTerms>>
  readonly isClosed?: boolean
  /** Changes the terms of the named models. Null removes those of a model. */
  readonly onSave: (change: ModelTermsChange) => Promise<void>
}) {
  const [asking, ask] = useState<Asking>()
  const rows = Object.entries(perModel).map(([model, terms]) => ({ model, terms }))
  const mayEdit = mayOperate() && !isClosed
  const close = () => ask(undefined)
  const save = async (model: string, terms: Terms | null) => {
    await onSave({ [model]: terms })
    toast(words.saved)
    close()
  }
  const add = mayEdit && (
    <button type="button" class="button small" onClick={() => ask({ kind: 'add' })}>
      {words.addModel}
    </button>
  )
  return (
    <Card title={words.perModel} actions={add}>
      {rows.length === 0 ? (
        <p class="soft">{words.noPerModel}</p>
      ) : (
        <Table
          label={words.perModel}
          rows={rows}
          columns={mayEdit ? [...columns, actionColumn(ask)] : columns}
          keyOf={({ model }) => model}
        />
      )}
      {asking?.kind === 'add' && <AddModel onSave={save} onClose={close} />}
      {asking?.kind === 'edit' && <EditModel {...asking.row} onSave={save} onClose={close} />}
      {asking?.kind === 'remove' && (
        <Confirm
          title={words.removeTitle(asking.row.model)}
          action={words.remove}
          onConfirm={() => save(asking.row.model, null)}
          onClose={close}
        >
          <p>{words.removeText}</p>
        </Confirm>
      )}
    </Card>
  )
}

const columns: readonly Column<ModelRow>[] = [
  { label: words.model, show: ({ model }) => model, sortBy: ({ model }) => model },
  ...rates.map(rate => ({
    label: words.rates[rate],
    isNumber: true,
    show: ({ terms: { limits } }: ModelRow) => (limits[rate] === null ? '–' : count(limits[rate])),
  })),
  {
    label: words.budgets,
    show: ({ terms: { budgets, budget_usage: used } }) => {
      const set = periods.filter(period => budgets[period] !== null)
      if (set.length === 0) return '–'
      return (
        <ul>
          {set.map(period => (
            <li key={period}>
              {words.periods[period]}: <Money of={used[period]?.spent_usd} /> {words.of}{' '}
              <Money of={budgets[period]} />
            </li>
          ))}
        </ul>
      )
    },
  },
]

function actionColumn(ask: (asking: Asking) => void): Column<ModelRow> {
  return {
    label: partsTexts.actions,
    show: row => (
      <span class="row">
        <button
          type="button"
          class="button small"
          aria-label={words.editOf(row.model)}
          onClick={() => ask({ kind: 'edit', row })}
        >
          {words.edit}
        </button>
        <button
          type="button"
          class="button small destructive"
          aria-label={words.removeOf(row.model)}
          onClick={() => ask({ kind: 'remove', row })}
        >
          {words.remove}
        </button>
      </span>
    ),
  }
}

type Saving = {
  readonly onSave: (model: string, terms: Terms) => Promise<void>
  readonly onClose: () => void
}

const MODELS = 'models-with-limits'

function AddModel({ onSave, onClose }: Saving) {
  const models = useResource('models', () => answer(api.GET('/admin/api/models')))
  const [model, setModel] = useState('')
  const prefix = prefixOf(model)
  return (
    <Dialog title={words.addModelTitle} onClose={onClose}>
      <ActionForm
        submit={partsTexts.save}
        onCancel={onClose}
        onSubmit={values => onSave(model, termsIn(values, prefix))}
      >
        <TextField
          label={words.model}
          name="per_model"
          list={MODELS}
          autoComplete="off"
          required
          hasFocus
          onInput={event => setModel(event.currentTarget.value.trim())}
        />
        <datalist id={MODELS}>
          {models.value?.data.map(({ id }) => (
            <option key={id} value={id} />
          ))}
        </datalist>
        <TermFields prefix={prefix} />
      </ActionForm>
    </Dialog>
  )
}

function EditModel({ model, terms, onSave, onClose }: ModelRow & Saving) {
  const prefix = prefixOf(model)
  return (
    <Dialog title={words.editOf(model)} onClose={onClose}>
      <ActionForm
        submit={partsTexts.save}
        onCancel={onClose}
        onSubmit={values => onSave(model, termsIn(values, prefix))}
      >
        <p class="soft">{words.emptyIsNone}</p>
        <TermFields terms={terms} prefix={prefix} />
      </ActionForm>
    </Dialog>
  )
}

/** As the gateway names the fields of a model. */
function prefixOf(model: string): string {
  return `per_model.${model}.`
}
