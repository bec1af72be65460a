import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { partsTexts } from './texts.ts'
import { ActionForm } from './form.tsx'
import { Secret } from './facts.tsx'
import { Icon } from './icon.tsx'
import { Note } from './notes.tsx'
import { Toasts } from './toast.tsx'

/** A native modal dialog. It is shown while it is rendered. Escape and the button close it, unless it is kept. */
export function Dialog({
  title,
  isWide = false,
  isKept = false,
  onClose,
  children,
}: {
  readonly title: string
  readonly isWide?: boolean
  /** Whether only a button of its content closes it. */
  readonly isKept?: boolean
  readonly onClose: () => void
  readonly children: ComponentChildren
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  // An effect of the other kind would come after those of the fields, of which one may take the focus.
  useLayoutEffect(() => {
    const before = document.activeElement
    const shown = dialog.current
    shown?.showModal()
    focusFirstField(shown)
    return () => {
      // Preact removes the dialog without closing it. Nothing outside of an open one can have the focus, and another
      // dialog, such as that of a new key, may follow this one and give the focus back to the same button.
      shown?.setAttribute('data-removed', '')
      shown?.close()
      // The button of an empty list is gone once the list has a row.
      const next = before?.isConnected === true ? before : document.querySelector('h1')
      if (next instanceof HTMLElement) next.focus()
    }
  }, [])
  return (
    <dialog
      class={isWide ? 'dialog wide' : 'dialog'}
      ref={dialog}
      aria-labelledby={id}
      onCancel={event => {
        if (isKept) event.preventDefault()
      }}
      onClose={event => {
        if (event.currentTarget.hasAttribute('data-removed')) return
        // A browser lets a page prevent only the first of two Escapes.
        if (isKept) event.currentTarget.showModal()
        else onClose()
      }}
    >
      <header>
        <h2 id={id}>{title}</h2>
        {!isKept && (
          <button type="button" class="button quiet small" aria-label={partsTexts.close} onClick={onClose}>
            <Icon name="close" />
          </button>
        )}
      </header>
      <Toasts />
      <div class="dialog-body">{children}</div>
    </dialog>
  )
}

/** A form is written from its first field on. The browser would begin with the button that closes the dialog. */
function focusFirstField(dialog: HTMLDialogElement | null): void {
  const fields = '.dialog-body :is(input, select, textarea):enabled:not([type="hidden"])'
  dialog?.querySelector<HTMLElement>(fields)?.focus()
}

/** Shows a text that is shown only once, such as a key. Escape would lose it, so only its button closes it. */
export function OnceDialog({
  title,
  lead,
  text,
  copy,
  done,
  onClose,
  children,
}: {
  readonly title: string
  readonly lead: string
  readonly text: string
  /** What the button beside the text does. */
  readonly copy: string
  /** What the button says that closes the dialog. */
  readonly done: string
  readonly onClose: () => void
  readonly children?: ComponentChildren
}) {
  return (
    <Dialog title={title} isKept onClose={onClose}>
      <Note tone="warn">{lead}</Note>
      <Secret text={text} label={copy} />
      {children}
      <div class="dialog-actions">
        <button type="button" class="button primary" onClick={onClose}>
          {done}
        </button>
      </div>
    </Dialog>
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
