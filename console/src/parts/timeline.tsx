/** What happened, in order. */
import type { ComponentChildren } from 'preact'
import type { BadgeTone } from './facts.tsx'
import { exactInstant } from './format.ts'

export type TimelineStep = {
  readonly title: ComponentChildren
  readonly text?: ComponentChildren
  /** Absent if only its place in the order is known. */
  readonly at?: string | null
  readonly tone?: BadgeTone
}

export function Timeline({ steps }: { readonly steps: readonly TimelineStep[] }) {
  return (
    <ol class="timeline">
      {steps.map(({ title, text, at, tone = 'plain' }, index) => (
        <li key={index} class={tone}>
          <div>
            <strong>{title}</strong>
            {at !== undefined && at !== null && (
              <time class="soft" dateTime={at}>
                {exactInstant(at)}
              </time>
            )}
          </div>
          {text !== undefined && text !== null && <p class="soft">{text}</p>}
        </li>
      ))}
    </ol>
  )
}
