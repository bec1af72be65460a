import { useRef } from 'preact/hooks'
import type { ComponentChildren } from 'preact'
import { TextArea } from '../../parts/form.tsx'
import { Icon } from '../../parts/icon.tsx'
import { playgroundTexts } from './texts.ts'

const words = playgroundTexts

/** Where a prompt is written and sent. Enter sends it, and Shift with Enter begins a line. */
export function Composer({
  label,
  isReady,
  isRunning,
  onDraft,
  onSend,
  onStop,
  onClear,
  children,
}: {
  readonly label: string
  /** False while no account is chosen. */
  readonly isReady: boolean
  readonly isRunning: boolean
  readonly onDraft: (text: string) => void
  readonly onSend: (text: string) => void
  readonly onStop: () => void
  readonly onClear?: (() => void) | undefined
  /** Further fields. */
  readonly children?: ComponentChildren
}) {
  const form = useRef<HTMLFormElement>(null)
  const send = () => {
    const area = form.current?.querySelector('textarea')
    const text = area?.value.trim() ?? ''
    if (area === null || area === undefined || text === '' || isRunning || !isReady) return
    area.value = ''
    onSend(text)
  }
  return (
    <form
      class="composer"
      ref={form}
      onSubmit={event => {
        event.preventDefault()
        send()
      }}
    >
      <TextArea
        label={label}
        name="prompt"
        required
        rows={3}
        onInput={event => onDraft(event.currentTarget.value.trim())}
        onKeyDown={event => {
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
          event.preventDefault()
          send()
        }}
      />
      {children}
      <div class="row">
        <button type="submit" class="button primary" disabled={isRunning || !isReady}>
          <Icon name="play" />
          {words.send}
        </button>
        {isRunning && (
          <button type="button" class="button" onClick={onStop}>
            {words.stop}
          </button>
        )}
        {onClear !== undefined && !isRunning && (
          <button type="button" class="button quiet" onClick={onClear}>
            {words.clear}
          </button>
        )}
        {!isReady && <span class="soft">{words.chooseAccount}</span>}
      </div>
    </form>
  )
}
