/** Tables. A list of the gateway comes page by page; a list in memory is sorted and drawn as far as it is visible. */
import type { ComponentChildren, RefObject } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { partsTexts } from './texts.ts'
import { useQuery } from './filters.tsx'
import { count } from './format.ts'
import { Icon } from './icon.tsx'

export type Column<Row> = {
  readonly label: string
  readonly show: (row: Row) => ComponentChildren
  /** What the rows are sorted by. Without it, the column cannot be sorted. */
  readonly sortBy?: (row: Row) => string | number | bigint
  readonly isNumber?: boolean
  /** Long text that may take several lines. */
  readonly mayWrap?: boolean
  /** The name of an account or the like, which is cut when it is long. Its cell says the whole name as a tooltip. */
  readonly isName?: boolean
}

export type TableProps<Row> = {
  /** For screen readers. */
  readonly label: string
  readonly rows: readonly Row[]
  readonly columns: readonly Column<Row>[]
  readonly keyOf: (row: Row) => string
  /** The rows are one page of a longer list. Sorting them would not show the first rows of the list. */
  readonly isPart?: boolean
}

type Order = { readonly column: number; readonly isDescending: boolean }

/** From this length on, only the visible rows are in the page. */
const WHOLE_ROWS_MAX = 300

/** A table of all its rows, in an order that the reader chooses. */
export function Table<Row>(props: TableProps<Row>) {
  const { label, rows, columns, keyOf, isPart = false } = props
  const [order, setOrder] = useState<Order>()
  const sorted = useMemo(() => (isPart ? rows : inOrder(rows, columns, order)), [rows, order, isPart])
  const isLong = sorted.length > WHOLE_ROWS_MAX
  const wrap = useRef<HTMLDivElement>(null)
  const view = useWindow(wrap, isLong ? sorted.length : 0)
  const shown = isLong ? sorted.slice(view.from, view.to) : sorted
  return (
    <div
      class={isLong ? 'table-wrap long' : 'table-wrap'}
      ref={wrap}
      tabIndex={0}
      role="group"
      aria-label={label}
    >
      <table class="table" role="table" aria-rowcount={isLong ? sorted.length + 1 : undefined}>
        <thead>
          <tr>
            {columns.map((column, index) => (
              <Heading
                key={column.label}
                column={column}
                order={!isPart && order?.column === index ? order : undefined}
                onSort={isPart ? undefined : () => setOrder(nextOrder(order, index))}
              />
            ))}
          </tr>
        </thead>
        <tbody>
          {isLong && <Spacer height={view.from * ROW_PX} columns={columns.length} />}
          {shown.map((row, index) => (
            <tr key={keyOf(row)} aria-rowindex={isLong ? view.from + index + 2 : undefined}>
              {columns.map(column => (
                <td key={column.label} class={cellClass(column)} data-label={column.label}>
                  {column.show(row)}
                </td>
              ))}
            </tr>
          ))}
          {isLong && <Spacer height={(sorted.length - view.to) * ROW_PX} columns={columns.length} />}
        </tbody>
      </table>
    </div>
  )
}

function cellClass<Row>({ isNumber, mayWrap, isName }: Column<Row>): string | undefined {
  if (isNumber === true) return 'number'
  if (isName === true) return 'name'
  return mayWrap === true ? 'wrap' : undefined
}

function Heading<Row>({
  column,
  order,
  onSort,
}: {
  readonly column: Column<Row>
  /** Set if the table is sorted by this column. */
  readonly order: Order | undefined
  /** Undefined if the table cannot be sorted. */
  readonly onSort: (() => void) | undefined
}) {
  const { label, sortBy } = column
  const direction = order?.isDescending === true ? 'descending' : 'ascending'
  return (
    <th scope="col" class={cellClass(column)} aria-sort={order === undefined ? undefined : direction}>
      {sortBy === undefined || onSort === undefined ? (
        label
      ) : (
        <button type="button" title={partsTexts.sortBy(label)} onClick={onSort}>
          {label}
          <Icon name={order === undefined ? 'sort' : order.isDescending ? 'down' : 'up'} />
        </button>
      )}
    </th>
  )
}

function nextOrder(order: Order | undefined, column: number): Order | undefined {
  if (order?.column !== column) return { column, isDescending: false }
  return order.isDescending ? undefined : { column, isDescending: true }
}

/**
 * The rows in their order. What they are sorted by is read once for each row. Texts are compared by their characters:
 * a collator takes seconds for 100,000 rows.
 */
export function inOrder<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  order: Order | undefined,
): readonly Row[] {
  const sortBy = order === undefined ? undefined : columns[order.column]?.sortBy
  if (order === undefined || sortBy === undefined) return rows
  const sign = order.isDescending ? -1 : 1
  return rows
    .map(row => ({ row, by: keyIn(sortBy(row)) }))
    .sort((a, b) => sign * compared(a.by, b.by))
    .map(({ row }) => row)
}

type Key = string | number | bigint

function keyIn(key: Key): Key {
  return typeof key === 'string' ? key.toLowerCase() : key
}

function compared(a: Key, b: Key): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

/** The height of a row in table.css. */
const ROW_PX = 38
/** Above and below what is visible, so that scrolling does not show a gap. */
const ROWS_BEYOND = 20

/** Which rows of a scrolled table are visible. */
function useWindow(
  wrap: RefObject<HTMLElement | null>,
  length: number,
): { readonly from: number; readonly to: number } {
  const [top, setTop] = useState(0)
  const [height, setHeight] = useState(800)
  const isUsed = length > 0
  useEffect(() => {
    const element = wrap.current
    if (!isUsed || element === null) return undefined
    const look = () => {
      // Steps of some rows, so that not every pixel draws the table again.
      setTop(Math.floor(element.scrollTop / (ROW_PX * 10)) * 10)
      // Without its styles, the table would be as high as all its rows.
      setHeight(Math.min(element.clientHeight, innerHeight))
    }
    look()
    element.addEventListener('scroll', look, { passive: true })
    return () => element.removeEventListener('scroll', look)
  }, [isUsed])
  const from = Math.max(0, Math.min(top, length) - ROWS_BEYOND)
  return { from, to: Math.min(length, from + Math.ceil(height / ROW_PX) + ROWS_BEYOND * 2 + 10) }
}

function Spacer({ height, columns }: { readonly height: number; readonly columns: number }) {
  if (height <= 0) return null
  return (
    <tr class="spacer" aria-hidden="true">
      <td colSpan={columns} style={{ height: `${height}px` }} />
    </tr>
  )
}

/** The foot of a list that is read page by page. The browser's back button shows the page before. */
export function Pager({
  next,
  shown,
}: {
  /** The cursor of the next page; null on the last one. */
  readonly next: string | null
  /** The number of rows on this page. */
  readonly shown: number
}) {
  const [query, change] = useQuery()
  const isFirst = query['cursor'] === undefined
  if (isFirst && next === null) return <p class="table-foot">{partsTexts.lines(count(shown))}</p>
  return (
    <div class="table-foot">
      <span>{partsTexts.lines(count(shown))}</span>
      <span class="row">
        <button
          type="button"
          class="button small"
          disabled={isFirst}
          onClick={() => change({ cursor: '' }, 'push')}
        >
          {partsTexts.first}
        </button>
        <button
          type="button"
          class="button small"
          disabled={next === null}
          onClick={() => change({ cursor: next ?? '' }, 'push')}
        >
          {partsTexts.next}
        </button>
      </span>
    </div>
  )
}
