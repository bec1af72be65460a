import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { messageOf } from './form.tsx'
import { toast } from './toast.tsx'

/** A button for an action that needs no form and no question. It cannot be pressed twice, and says why it failed. */
export function ActionButton({
  class: look = 'button',
  label,
  onPress,
  children,
}: {
  readonly class?: string
  /** For screen readers, if the text does not say what the action is about. */
  readonly label?: string
  readonly onPress: () => Promise<void>
  readonly children: ComponentChildren
}) {
  const [isBusy, setBusy] = useState(false)
  const press = async () => {
    setBusy(true)
    await onPress().catch((error: Error) => toast(messageOf(error), 'bad'))
    setBusy(false)
  }
  return (
    <button
      type="button"
      class={look}
      aria-label={label}
      disabled={isBusy}
      aria-busy={isBusy}
      onClick={() => void press()}
    >
      {children}
    </button>
  )
}
