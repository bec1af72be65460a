import { useState } from 'preact/hooks'
import type { JSX } from 'preact'
import { ApiError } from '../../api/client.ts'
import { TextField, type FormValues } from '../../parts/form.tsx'
import { signInTexts } from './texts.ts'

const words = signInTexts

/**
 * A form whose submission may need a one-time code: if the gateway answers `code_needed`, `field` is the field for it,
 * and the next submission has its value in `code`.
 */
export function useCodeField(submit: (values: FormValues) => Promise<void>): {
  readonly submit: (values: FormValues) => Promise<void>
  readonly field: JSX.Element | undefined
} {
  const [isNeeded, setNeeded] = useState(false)
  return {
    async submit(values) {
      try {
        await submit(values)
      } catch (error) {
        if (!(error instanceof ApiError) || error.code !== 'code_needed' || isNeeded) throw error
        setNeeded(true)
      }
    },
    field: isNeeded ? <CodeField /> : undefined,
  }
}

function CodeField() {
  return (
    <TextField
      label={words.code}
      name="code"
      hint={words.codeHint}
      inputMode="numeric"
      pattern="[0-9 ]{6,7}"
      autoComplete="one-time-code"
      required
      hasFocus
    />
  )
}
