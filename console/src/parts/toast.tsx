import { signal } from '@preact/signals'
import { useId, useLayoutEffect } from 'preact/hooks'
import { partsTexts } from './texts.ts'
import { Icon } from './icon.tsx'
import { Note, type Tone } from './notes.tsx'

type Toast = { readonly id: number; readonly text: string; readonly tone: Tone }

const shown = signal<readonly Toast[]>([])
/** The regions that are in the page, the topmost last. */
const regions = signal<readonly string[]>([])
let last = 0

/** Long enough to read a sentence. Errors stay until they are closed. */
const SHOWN_MS = 6000
const TOASTS_MAX = 4

/** Says what happened, also to screen readers. */
export function toast(text: string, tone: Tone = 'good'): void {
  last += 1
  const id = last
  shown.value = [...shown.value, { id, text, tone }].slice(-TOASTS_MAX)
  if (tone !== 'bad') setTimeout(() => remove(id), SHOWN_MS)
}

function remove(id: number): void {
  shown.value = shown.value.filter(toast => toast.id !== id)
}

/**
 * A live region. It is there from the start of its page or dialog, because screen readers ignore new regions. Each
 * modal dialog has its own, because all outside it is inert and behind its backdrop. Only the topmost has the texts.
 */
export function Toasts() {
  const id = useId()
  useLayoutEffect(() => {
    regions.value = [...regions.peek(), id]
    return () => {
      regions.value = regions.peek().filter(region => region !== id)
    }
  }, [])
  const own = regions.value.at(-1) === id ? shown.value : []
  return (
    <div class="toasts" role="status" aria-live="polite">
      {own.map(({ id, text, tone }) => (
        <Note key={id} tone={tone}>
          <div class="row">
            {text}
            <button
              type="button"
              class="button quiet small"
              aria-label={partsTexts.close}
              onClick={() => remove(id)}
            >
              <Icon name="close" />
            </button>
          </div>
        </Note>
      ))}
    </div>
  )
}
