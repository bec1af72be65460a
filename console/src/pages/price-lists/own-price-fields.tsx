/** The own prices in the form of a price list: one group a model, with its price in the catalog beside each field. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { MoneyField, SelectField } from '../../parts/form.tsx'
import { money } from '../../parts/format.ts'
import { fieldOf } from '../../parts/row-form.tsx'
import { modelsTexts } from '../models/texts.ts'
import { priceText } from '../models/prices.ts'
import { ModelSearch } from './model-search.tsx'
import {
  canBeFree,
  fieldsOf,
  isRequired,
  nameOf,
  othersIn,
  priceOfCatalog,
  tariffOf,
  type ModelRows,
  type OwnPrice,
} from './own-prices.ts'
import { priceListsTexts } from './texts.ts'

const words = priceListsTexts

export function OwnPriceFields({
  own,
  models,
  onChange,
}: {
  readonly own: readonly OwnPrice[]
  readonly models: ModelRows
  readonly onChange: (own: readonly OwnPrice[]) => void
}) {
  const search = useRef<HTMLInputElement>(null)
  const [added, setAdded] = useState<string>()
  return (
    <fieldset>
      <legend>{words.prices}</legend>
      <p class="soft">{words.pricesHint}</p>
      {own.map(price => (
        <PriceOfModel
          key={price.model}
          of={price}
          isAdded={price.model === added}
          onRemove={() => {
            onChange(own.filter(other => other !== price))
            search.current?.focus()
          }}
        />
      ))}
      <ModelSearch
        input={search}
        used={own.map(({ model }) => model)}
        models={models}
        onFound={model => {
          setAdded(model)
          onChange([...own, priceOfCatalog(model, models)])
        }}
      />
    </fieldset>
  )
}

function PriceOfModel({
  of: own,
  isAdded,
  onRemove,
}: {
  readonly of: OwnPrice
  readonly isAdded: boolean
  readonly onRemove: () => void
}) {
  const group = useRef<HTMLDivElement>(null)
  const [mode, setMode] = useState(own.isFree ? 'free' : 'tariff')
  useEffect(() => {
    const fields = group.current
    if (isAdded) (fields?.querySelector('input') ?? fields?.querySelector('select'))?.focus()
  }, [])
  const others = othersIn(own.tariff)
  return (
    <div class="price-line" role="group" aria-label={own.model} ref={group}>
      <header>
        <h3>{own.model}</h3>
        <button
          type="button"
          class="button small"
          aria-label={words.removeModel(own.model)}
          onClick={onRemove}
        >
          {words.remove}
        </button>
      </header>
      {own.catalog !== undefined && (
        <p class="soft">{words.inCatalog(priceText(own.catalog), othersIn(tariffOf(own.catalog)))}</p>
      )}
      <div class="row-fields">
        {canBeFree(own) && (
          <SelectField
            label={modelsTexts.mode}
            name={nameOf(own)}
            value={mode}
            choices={(['tariff', 'free'] as const).map(value => ({ value, label: modelsTexts.modes[value] }))}
            onChange={setMode}
          />
        )}
        {mode === 'tariff' && fieldsOf(own).map(field => <PriceField key={field} of={own} field={field} />)}
      </div>
      {mode === 'tariff' && others !== '' && <p class="soft">{words.othersStay(others)}</p>}
    </div>
  )
}

function PriceField({ of: own, field }: { readonly of: OwnPrice; readonly field: string }) {
  const names: Readonly<Record<string, string>> = { ...modelsTexts.priceNames, ...words.priceNames }
  const ofCatalog = fieldOf(tariffOf(own.catalog), field)
  return (
    <MoneyField
      label={names[field] ?? field}
      name={nameOf(own, field)}
      hint={ofCatalog === '' ? undefined : words.catalogHint(money(ofCatalog))}
      defaultValue={fieldOf(own.tariff, field)}
      required={isRequired(own, field)}
    />
  )
}
