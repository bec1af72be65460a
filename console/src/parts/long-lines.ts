/** Lines of many points on a canvas, by uPlot. */
import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type uPlot from 'uplot'
import type { ChartProps } from './chart.tsx'

const HEIGHT_PX = 240

/** Draws a chart into `place` when it is in the page, and again with other values. */
export function useLongLines(chart: Omit<ChartProps, 'kind'>): {
  readonly place: RefObject<HTMLDivElement | null>
  readonly error: Error | undefined
} {
  const place = useRef<HTMLDivElement>(null)
  const [error, setError] = useState<Error>()
  useEffect(() => {
    let plot: uPlot | undefined
    let isGone = false
    const draw = async () => {
      try {
        const { default: Plot } = await import('uplot')
        if (!isGone && place.current !== null) plot = drawn(Plot, chart, place.current)
      } catch (problem) {
        setError(problem as Error)
      }
    }
    void draw()
    return () => {
      isGone = true
      plot?.destroy()
    }
  }, [chart.labels, chart.series])
  return { place, error }
}

function drawn(
  Plot: typeof uPlot,
  { labels, series, show }: Omit<ChartProps, 'kind'>,
  place: HTMLElement,
): uPlot {
  const style = getComputedStyle(place)
  const colour = (name: string) => resolved(place, style.getPropertyValue(name))
  const axis = { stroke: colour('--text-soft'), grid: { stroke: colour('--line') } }
  const x = labels.map((_, index) => index)
  const lines = series.map(({ values }) => values.map(value => (value === null ? null : Number(value))))
  return new Plot(
    {
      width: place.clientWidth,
      height: HEIGHT_PX,
      legend: { show: false },
      scales: { x: { time: false } },
      axes: [
        { ...axis, values: (_, ticks) => ticks.map(tick => labels[tick] ?? '') },
        { ...axis, size: 72, values: (_, ticks) => ticks.map(tick => show(String(tick))) },
      ],
      series: [{}, ...series.map(({ label }, at) => ({ label, stroke: colour(`--series-${(at % 6) + 1}`) }))],
    },
    [x, ...lines],
    place,
  )
}

/** The colour of a text in the current scheme: a canvas does not know `light-dark()`. */
function resolved(place: HTMLElement, colour: string): string {
  const probe = document.createElement('span')
  probe.style.color = colour
  place.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}
