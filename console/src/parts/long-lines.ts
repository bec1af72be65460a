/** Lines of many points on a canvas, by uPlot. */
import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type uPlot from 'uplot'
import { SERIES_COLOURS, tickTexts, type Drawn } from './chart-values.ts'
import { shortTime } from './format.ts'

const HEIGHT_PX = 240

/**
 * Draws a chart into `place` when it is in the page. It is drawn again with other values and in another scheme, and
 * follows the width of its place.
 */
export function useLongLines(chart: Drawn): {
  readonly place: RefObject<HTMLDivElement | null>
  readonly error: Error | undefined
} {
  const place = useRef<HTMLDivElement>(null)
  const [error, setError] = useState<Error>()
  const scheme = useScheme()
  useEffect(() => {
    const stop = new AbortController()
    const draw = async () => {
      try {
        const { default: Plot } = await import('uplot')
        if (!stop.signal.aborted && place.current !== null) drawn(Plot, chart, place.current, stop.signal)
      } catch (problem) {
        setError(problem as Error)
      }
    }
    void draw()
    return () => stop.abort()
  }, [chart.labels, chart.series, scheme])
  return { place, error }
}

/** Changes with the colours of the page, which a canvas does not follow by itself. */
function useScheme(): string {
  const [scheme, setScheme] = useState(schemeNow)
  useEffect(() => {
    const look = () => setScheme(schemeNow())
    const system = matchMedia('(prefers-color-scheme: dark)')
    const chosen = new MutationObserver(look)
    chosen.observe(document.documentElement, { attributeFilter: ['data-theme'] })
    system.addEventListener('change', look)
    return () => {
      chosen.disconnect()
      system.removeEventListener('change', look)
    }
  }, [])
  return scheme
}

function schemeNow(): string {
  return `${document.documentElement.dataset['theme']} ${matchMedia('(prefers-color-scheme: dark)').matches}`
}

/** Until `signal` ends the drawing. */
function drawn(
  Plot: typeof uPlot,
  { labels, series, show }: Drawn,
  place: HTMLElement,
  signal: AbortSignal,
): void {
  const style = getComputedStyle(place)
  const colour = (name: string) => resolved(place, style.getPropertyValue(name))
  const axis = { stroke: colour('--text-soft'), grid: { stroke: colour('--line'), width: 1 } }
  const x = labels.map((_, index) => index)
  const lines = series.map(({ values }) => values.map(value => (value === null ? null : Number(value))))
  const plot = new Plot(
    {
      width: place.clientWidth,
      height: HEIGHT_PX,
      legend: { show: false },
      scales: { x: { time: false } },
      axes: [
        { ...axis, space: 96, values: (_, ticks) => ticks.map(tick => shortTime(labels[tick] ?? '')) },
        { ...axis, size: 72, values: (_, ticks) => [...tickTexts(ticks, show)] },
      ],
      series: [
        {},
        ...series.map(({ label }, at) => ({
          label,
          stroke: colour(`--series-${(at % SERIES_COLOURS) + 1}`),
        })),
      ],
    },
    [x, ...lines],
    place,
  )
  const watch = new ResizeObserver(() => plot.setSize({ width: place.clientWidth, height: HEIGHT_PX }))
  watch.observe(place)
  signal.addEventListener('abort', () => {
    watch.disconnect()
    plot.destroy()
  })
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
