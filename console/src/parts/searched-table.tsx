/** A short list that is in memory: all rows, or those whose id has the searched text. */
import { Filters, NothingMatches, SearchFilter, useQuery } from './filters.tsx'
import { Table, type TableProps } from './table.tsx'

export function SearchedTable<Row extends { readonly id: string }>({
  rows,
  noMatch,
  ...table
}: Omit<TableProps<Row>, 'keyOf'> & { readonly noMatch: string }) {
  const [{ search = '' }] = useQuery()
  const shown = rows.filter(({ id }) => id.toLowerCase().includes(search.toLowerCase()))
  return (
    <div>
      <Filters>
        <SearchFilter />
      </Filters>
      {shown.length === 0 ? (
        <NothingMatches names={['search']} text={noMatch} />
      ) : (
        <Table {...table} rows={shown} keyOf={({ id }) => id} />
      )}
    </div>
  )
}
