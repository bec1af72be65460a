/** One-time codes from an authenticator app. */
import { useState } from 'preact/hooks'
import { encode } from 'uqr'
import { oidcUrl } from '../../api/client.ts'
import { consoleApi } from '../../api/console-routes.ts'
import { Card, Secret } from '../../parts/facts.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { ActionForm, TextField } from '../../parts/form.tsx'
import { toast } from '../../parts/toast.tsx'
import { currentUser, enter, readSession } from '../../session.ts'
import { profileTexts } from './texts.ts'
import { signInTexts } from '../sign-in/texts.ts'

const words = profileTexts

type Key = { readonly secret: string; readonly uri: string }

export function Totp() {
  const { has_totp: isOn, has_password: hasPassword } = currentUser()
  const [open, setOpen] = useState<'set up' | 'remove'>()
  const close = () => setOpen(undefined)
  return (
    <Card title={words.totp}>
      <div class="form">
        <p>{isOn ? words.totpOn : hasPassword ? words.totpOff : words.totpNoPassword}</p>
        <div class="dialog-actions">
          <button type="button" class="button" onClick={() => setOpen(isOn ? 'remove' : 'set up')}>
            {isOn ? words.totpRemove : words.totpBegin}
          </button>
        </div>
      </div>
      {open === 'set up' && <SetUp onClose={close} />}
      {open === 'remove' && <Remove onClose={close} />}
    </Card>
  )
}

function SetUp({ onClose }: { readonly onClose: () => void }) {
  const [key, setKey] = useState<Key>()
  return (
    <Dialog title={words.totp} onClose={onClose}>
      {key === undefined ? (
        <Proof
          text={words.totpBeginText}
          submit={words.totpProve}
          onProved={async password => setKey(await consoleApi.beginTotp(password))}
          onCancel={onClose}
        />
      ) : (
        <FirstCode keyToUse={key} onClose={onClose} />
      )}
    </Dialog>
  )
}

/** The form in which users prove who they are: with the password, or, without one, with a sign-in just before. */
function Proof({
  text,
  submit,
  isDanger = false,
  onProved,
  onCancel,
}: {
  readonly text: string
  readonly submit: string
  readonly isDanger?: boolean
  readonly onProved: (password: string | undefined) => Promise<void>
  readonly onCancel: () => void
}) {
  const { has_password: hasPassword } = currentUser()
  return (
    <ActionForm
      submit={submit}
      isDanger={isDanger}
      onCancel={onCancel}
      onSubmit={({ password }) => onProved(password)}
    >
      {hasPassword ? (
        <>
          <p>{text}</p>
          <TextField
            label={signInTexts.password}
            name="password"
            type="password"
            autoComplete="current-password"
            required
            hasFocus
          />
        </>
      ) : (
        <p>
          {words.totpFresh} <a href={oidcUrl}>{words.totpSignIn}</a>
        </p>
      )}
    </ActionForm>
  )
}

function FirstCode({
  keyToUse: { secret, uri },
  onClose,
}: {
  readonly keyToUse: Key
  readonly onClose: () => void
}) {
  return (
    <>
      <p>{words.totpScan}</p>
      <QrCode text={uri} label={words.totpQr} />
      <p>
        {words.totpKey}: <Secret text={secret} />
      </p>
      <ActionForm
        submit={words.totpConfirm}
        onCancel={onClose}
        onSubmit={async ({ code = '' }) => {
          await consoleApi.confirmTotp(code.replaceAll(' ', ''))
          await readSession()
          toast(words.totpSwitchedOn)
          onClose()
        }}
      >
        <TextField
          label={words.totpCode}
          name="code"
          inputMode="numeric"
          pattern="[0-9 ]{6,7}"
          autoComplete="one-time-code"
          required
          hasFocus
        />
      </ActionForm>
    </>
  )
}

function Remove({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title={words.totpRemove} onClose={onClose}>
      <Proof
        text={words.totpRemoveText}
        submit={words.totpRemove}
        isDanger
        onCancel={onClose}
        onProved={async password => {
          enter(await consoleApi.removeTotp(password))
          toast(words.totpRemoved)
          onClose()
        }}
      />
    </Dialog>
  )
}

/** Dark on light in both schemes, because some apps read no inverted code. */
function QrCode({ text, label }: { readonly text: string; readonly label: string }) {
  const { data, size } = encode(text)
  const dark = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])))
  return (
    <svg
      class="qr"
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label={label}
      shape-rendering="crispEdges"
    >
      <path d={dark.join('')} fill="#000" />
    </svg>
  )
}
