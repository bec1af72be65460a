import { TextField } from '../../parts/form.tsx'
import { texts } from '../../texts.ts'

const words = texts.signIn

/** The one-time code, which the gateway asks for with `code_needed`. */
export function CodeField() {
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
