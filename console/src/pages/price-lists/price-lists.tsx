/** The price lists, which give some accounts other prices. */
import { answer, api } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import { Tabs } from '../../parts/facts.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Empty, Loaded } from '../../parts/notes.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { SearchedTable } from '../../parts/searched-table.tsx'
import type { Column } from '../../parts/table.tsx'
import { mayOperate } from '../../session.ts'
import { catalogTabs } from '../../pages.ts'
import { priceListsTexts } from './texts.ts'
import { navigationTexts } from '../../texts.ts'
import type { PriceListRow } from './price-list-calls.ts'

const words = priceListsTexts

const columns: readonly Column<PriceListRow>[] = [
  {
    label: words.name,
    show: ({ id }) => <a href={`price-lists/${encodeURIComponent(id)}`}>{id}</a>,
    sortBy: ({ id }) => id,
  },
  {
    label: words.factor,
    isNumber: true,
    show: ({ factor }) => factor ?? '–',
    sortBy: ({ factor }) => Number(factor),
  },
  {
    label: words.ownPrices,
    isNumber: true,
    show: ({ prices }) => Object.keys(prices ?? {}).length,
    sortBy: ({ prices }) => Object.keys(prices ?? {}).length,
  },
  {
    label: words.models,
    mayWrap: true,
    show: ({ prices }) => <span class="soft">{Object.keys(prices ?? {}).join(', ')}</span>,
  },
]

export function PriceLists() {
  const lists = useResource('price lists', () => answer(api.GET('/admin/api/price-lists')))
  const add = mayOperate() && (
    <a class="button primary" href="price-lists/new">
      <Icon name="plus" />
      {words.add}
    </a>
  )
  return (
    <>
      <PageHead title={words.title} lead={words.lead}>
        {add}
      </PageHead>
      <Tabs label={navigationTexts.models} current="price-lists" tabs={catalogTabs} />
      <Loaded of={lists}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title={words.empty} text={words.emptyText}>
              {add}
            </Empty>
          ) : (
            <SearchedTable label={words.title} rows={data} columns={columns} noMatch={words.nothingText} />
          )
        }
      </Loaded>
    </>
  )
}
