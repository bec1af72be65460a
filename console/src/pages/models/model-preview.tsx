/** What an edit of a model changes, before it is stored: the fields, and what one request costs then. */
import { Confirm } from '../../parts/dialog.tsx'
import { Facts, Money } from '../../parts/facts.tsx'
import { Note } from '../../parts/notes.tsx'
import { FieldChanges } from '../../parts/row-form.tsx'
import { modelsTexts } from './texts.ts'
import { partsTexts, rowsTexts } from '../../parts/texts.ts'
import type { ModelPreview } from './model-calls.ts'

const words = modelsTexts

export function PreviewDialog({
  id,
  preview: { is_new: isNew, fields, example },
  onStore,
  onClose,
}: {
  readonly id: string
  readonly preview: ModelPreview
  readonly onStore: () => Promise<void>
  readonly onClose: () => void
}) {
  const isLoss = example?.costs.some(({ margin_usd: margin }) => margin?.startsWith('-') === true) ?? false
  return (
    <Confirm
      title={isNew ? words.previewNew(id) : words.preview(id)}
      action={isNew ? words.create : partsTexts.save}
      isDanger={false}
      isWide
      onConfirm={onStore}
      onClose={onClose}
    >
      {!isNew && fields.length === 0 && <p>{rowsTexts.nothingChanges}</p>}
      {fields.length > 0 && <FieldChanges of={fields} label={rowsTexts.changes} />}
      {example !== null && <Example of={example} isNew={isNew} />}
      {isLoss && <Note tone="warn">{words.loss}</Note>}
      <p class="soft">{words.takesEffect}</p>
    </Confirm>
  )
}

function Example({
  of: { of: what, before_usd: before, after_usd: after, costs },
  isNew,
}: {
  readonly of: NonNullable<ModelPreview['example']>
  readonly isNew: boolean
}) {
  return (
    <section class="example" aria-label={words.example}>
      <h3>{words.exampleOf(what)}</h3>
      <Facts
        of={[
          ...(isNew ? [] : [[words.exampleBefore, <Money of={before} />] as const]),
          [
            words.exampleAfter,
            <strong>
              <Money of={after} />
            </strong>,
          ],
          ...costs.flatMap(({ provider, cost_usd: cost, margin_usd: margin }) => [
            [words.bills(provider), <Money of={cost} />] as const,
            [words.marginOf(provider), <Money of={margin} />] as const,
          ]),
        ]}
      />
    </section>
  )
}
