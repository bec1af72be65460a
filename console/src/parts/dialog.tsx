import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { texts } from '../texts.ts'
import { ActionForm } from './form.tsx'
import { Icon } from './icon.tsx'

/** A native modal dialog. It is shown while it is rendered. Escape and the button close it. */
export function Dialog({
  title,
  isWide = false,
  onClose,
  children,
}: {
  readonly title: string
  readonly isWide?: boolean
  readonly onClose: () => void
  readonly children: ComponentChildren
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const before = document.activeElement
    dialog.current?.showModal()
    return () => {
      // Preact removes the dialog without closing it, so the browser would not give the focus back.
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  return (
    <dialog class={isWide ? 'dialog wide' : 'dialog'} ref={dialog} aria-labelledby={id} onClose={onClose}>
      <header>
        <h2 id={id}>{title}</h2>
        <button type="button" class="button quiet small" aria-label={texts.parts.close} onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      <div class="dialog-body">{children}</div>
    </dialog>
  )
}

/** Asks before an action that is hard to undo. Stays open with the reason if the action fails. */
export function Confirm({
  title,
  action,
  isDanger = true,
  isWide = false,
  onConfirm,
  onClose,
  children,
}: {
  readonly title: string
  /** The verb on the button, such as "Disable". */
  readonly action: string
  readonly isDanger?: boolean
  readonly isWide?: boolean
  /** Resolves when the action is done. The dialog is closed then. */
  readonly onConfirm: () => Promise<void>
  readonly onClose: () => void
  readonly children?: ComponentChildren
}) {
  return (
    <Dialog title={title} isWide={isWide} onClose={onClose}>
      <ActionForm
        submit={action}
        isDanger={isDanger}
        onCancel={onClose}
        onSubmit={async () => {
          await onConfirm()
          onClose()
        }}
      >
        {children}
      </ActionForm>
    </Dialog>
  )
}
