import { signal } from '@preact/signals'
import { texts } from '../texts.ts'
import { Icon } from './icon.tsx'
import { Note, type Tone } from './notes.tsx'

type Toast = { readonly id: number; readonly text: string; readonly tone: Tone }

const shown = signal<readonly Toast[]>([])
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

/** The live region. It is in the page from the start, because screen readers ignore new regions. */
export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {shown.value.map(({ id, text, tone }) => (
        <Note key={id} tone={tone}>
          <div class="row">
            {text}
            <button
              type="button"
              class="button quiet small"
              aria-label={texts.parts.close}
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
