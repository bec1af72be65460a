/** One-time codes from an authenticator app. */
import { useState } from 'preact/hooks'
import { encode } from 'uqr'
import { consoleApi } from '../../api/console-routes.ts'
import { Card, Secret } from '../../parts/facts.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { ActionForm, messageOf, TextField } from '../../parts/form.tsx'
import { toast } from '../../parts/toast.tsx'
import { currentUser, readSession } from '../../session.ts'
import { texts } from '../../texts.ts'

const words = texts.profile

type Key = { readonly secret: string; readonly uri: string }

export function Totp() {
  const { has_totp: isOn } = currentUser()
  const [key, setKey] = useState<Key>()
  const [isRemoving, setRemoving] = useState(false)
  const begin = async () => {
    try {
      setKey(await consoleApi.beginTotp())
    } catch (error) {
      toast(messageOf(error as Error), 'bad')
    }
  }
  return (
    <Card title={words.totp}>
      <div class="form">
        <p>{isOn ? words.totpOn : words.totpOff}</p>
        <div class="dialog-actions">
          <button type="button" class="button" onClick={() => (isOn ? setRemoving(true) : void begin())}>
            {isOn ? words.totpRemove : words.totpBegin}
          </button>
        </div>
      </div>
      {key !== undefined && <SetUp keyToUse={key} onClose={() => setKey(undefined)} />}
      {isRemoving && <Remove onClose={() => setRemoving(false)} />}
    </Card>
  )
}

function SetUp({
  keyToUse: { secret, uri },
  onClose,
}: {
  readonly keyToUse: Key
  readonly onClose: () => void
}) {
  return (
    <Dialog title={words.totp} onClose={onClose}>
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
        />
      </ActionForm>
    </Dialog>
  )
}

function Remove({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title={words.totpRemove} onClose={onClose}>
      <ActionForm
        submit={words.totpRemove}
        isDanger
        onCancel={onClose}
        onSubmit={async ({ password = '' }) => {
          await consoleApi.removeTotp(password)
          await readSession()
          toast(words.totpRemoved)
          onClose()
        }}
      >
        <p>{words.totpRemoveText}</p>
        <TextField
          label={texts.signIn.password}
          name="password"
          type="password"
          autoComplete="current-password"
          required
        />
      </ActionForm>
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
