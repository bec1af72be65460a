/** A chart with more points than are drawn as SVG, for a test in a browser. */
import { render } from 'preact'
import { Chart } from '../src/parts/chart.tsx'

const LABELS = 1001

const labels = Array.from({ length: LABELS }, (_, index) => `Hour ${index}`)
const series = ['First', 'Second'].map((label, at) => ({
  label,
  values: labels.map((_, index) => String((index * (at + 7)) % 97)),
}))

render(
  <Chart title="Long lines" by="Hour" labels={labels} series={series} show={value => value} kind="lines" />,
  document.getElementById('chart') as HTMLElement,
)
