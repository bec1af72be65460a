/** Bars and lines over time as SVG, with their axes. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { heightOf, seriesClass, shown, ticksFor, tickTexts, type Drawn, type Series } from './chart-values.ts'
import { shortTime } from './format.ts'

/** The field of the drawing, in pixels. It is as wide as its place, so that its texts are never scaled. */
const WIDTH_AT_FIRST = 640
const HEIGHT = 220
const LEFT = 64
const BOTTOM = 24
const TOP = 8
/** A single bar is not a wall. */
const BAR_WIDTH_MAX = 48
/** About the width of a character of the axis, and the room between two labels. */
const CHARACTER_PX = 6
const LABEL_GAP_PX = 14

export function Plot({ kind, ...chart }: Drawn & { readonly kind: 'bars' | 'lines' }) {
  const { title, labels, series, show } = chart
  const { place, width } = useWidth()
  const heights = series.flatMap(({ values }) => values.map(heightOf))
  const ticks = ticksFor(Math.min(...heights), Math.max(...heights))
  const [low = 0, top = 1] = [ticks[0], ticks.at(-1)]
  const y = (value: number) => TOP + ((top - value) / (top - low)) * (HEIGHT - BOTTOM - TOP)
  const frame = { y, step: (width - LEFT) / labels.length }
  const texts = tickTexts(ticks, show)
  return (
    <svg ref={place} class="plot" viewBox={`0 0 ${width} ${HEIGHT}`} role="img" aria-label={title}>
      {ticks.map((tick, index) => (
        <g key={tick}>
          <line class="rule" x1={LEFT} x2={width} y1={y(tick)} y2={y(tick)} />
          <text class="axis" x={LEFT - 8} y={y(tick) + 4} text-anchor="end">
            {texts[index]}
          </text>
        </g>
      ))}
      <Axis labels={labels} step={frame.step} width={width} />
      {kind === 'bars' ? <Bars {...chart} {...frame} /> : <Lines {...chart} {...frame} />}
    </svg>
  )
}

/** The labels below the drawing: as many as have room, and none beyond its edge. */
function Axis({
  labels,
  step,
  width,
}: {
  readonly labels: readonly string[]
  readonly step: number
  readonly width: number
}) {
  const texts = labels.map(shortTime)
  const room = Math.max(...texts.map(text => text.length)) * CHARACTER_PX
  const every = Math.ceil((room + LABEL_GAP_PX) / step)
  return (
    <>
      {texts.map(
        (text, index) =>
          index % every === 0 && (
            <text
              key={labels[index]}
              class="axis"
              x={Math.min(LEFT + step * (index + 0.5), width - room / 2)}
              y={HEIGHT - 6}
              text-anchor="middle"
            >
              {text}
            </text>
          ),
      )}
    </>
  )
}

/** The width of a drawing in the page, also after it has changed. */
function useWidth() {
  const place = useRef<SVGSVGElement>(null)
  const [width, setWidth] = useState(WIDTH_AT_FIRST)
  useEffect(() => {
    if (place.current === null) return undefined
    const watch = new ResizeObserver(([entry]) => {
      const { width = 0 } = entry?.contentRect ?? {}
      if (width > LEFT) setWidth(Math.round(width))
    })
    watch.observe(place.current)
    return () => watch.disconnect()
  }, [])
  return { place, width }
}

type FrameProps = { readonly y: (value: number) => number; readonly step: number }

function Bars({ labels, series, show, y, step }: Drawn & FrameProps) {
  const gap = Math.min(6, step * 0.2)
  const width = Math.min(BAR_WIDTH_MAX, (step - gap) / series.length)
  const left = LEFT + (step - width * series.length) / 2
  return (
    <>
      {series.map((one, at) => (
        <g key={one.label} class={seriesClass(at)}>
          {labels.map((label, index) => {
            const value = heightOf(one.values[index])
            const x = left + step * index + width * at
            return (
              <rect
                key={label}
                class="bar"
                x={x}
                width={Math.max(1, width - 1)}
                y={Math.min(y(value), y(0))}
                height={Math.abs(y(0) - y(value))}
                rx="1.5"
              >
                <title>{`${shortTime(label)}, ${one.label}: ${shown(one.values[index], show)}`}</title>
              </rect>
            )
          })}
        </g>
      ))}
    </>
  )
}

function Lines({ labels, series, show, y, step }: Drawn & FrameProps) {
  const x = (index: number) => LEFT + step * (index + 0.5)
  return (
    <>
      {series.map(({ label: name, values }, at) => (
        <g key={name} class={seriesClass(at)}>
          <path class="line" d={pathOf(values, x, y)} />
          {labels.map((label, index) => {
            const value = values[index]
            return (
              value !== null &&
              value !== undefined && (
                <circle key={label} class="bar" cx={x(index)} cy={y(heightOf(value))} r="2.5">
                  <title>{`${shortTime(label)}, ${name}: ${shown(value, show)}`}</title>
                </circle>
              )
            )
          })}
        </g>
      ))}
    </>
  )
}

/** A line with gaps where there is no value. */
function pathOf(
  values: Series['values'],
  x: (index: number) => number,
  y: (value: number) => number,
): string {
  let isDown = false
  return values
    .map((value, index) => {
      if (value === null) {
        isDown = false
        return ''
      }
      const point = `${isDown ? 'L' : 'M'}${x(index).toFixed(1)} ${y(heightOf(value)).toFixed(1)}`
      isDown = true
      return point
    })
    .join('')
}
