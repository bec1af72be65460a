/** A chart of what customers spent, by model or by account. */
import { Chart } from '../../parts/chart.tsx'
import { money } from '../../parts/format.ts'
import { chartsTexts } from '../../parts/texts.ts'
import { groupLabel, type Margin, type TopMargins } from './read-margins.ts'

const words = chartsTexts

export function SpendChart({
  title,
  by,
  margins: { data, readAll },
}: {
  readonly title: string
  readonly by: 'model' | 'account'
  readonly margins: TopMargins
}) {
  const valuesOf = (margins: readonly Margin[]) => ({
    labels: margins.map(margin => groupLabel(by, margin)),
    series: [{ label: words.spend, values: margins.map(margin => margin.revenue_usd) }],
  })
  return (
    <Chart
      title={title}
      by={words[by]}
      {...valuesOf(data)}
      readAll={readAll === undefined ? undefined : async () => valuesOf(await readAll())}
      show={money}
      kind="rows"
    />
  )
}
