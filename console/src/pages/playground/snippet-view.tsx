/** A request as code for a customer, in the language that the reader chooses. */
import { useState } from 'preact/hooks'
import { Code } from '../../parts/facts.tsx'
import { SelectField } from '../../parts/form.tsx'
import { playgroundTexts } from './texts.ts'
import { languages, snippet, type Kind, type Language } from './snippets.ts'

const words = playgroundTexts

export function SnippetView({
  kind,
  body,
  secret,
}: {
  readonly kind: Kind
  readonly body: Readonly<Record<string, unknown>>
  /** The text of an API key. Without it, the code reads it from a variable. */
  readonly secret?: string | undefined
}) {
  const [language, setLanguage] = useState<Language>('curl')
  return (
    <div class="form">
      <SelectField
        label={words.language}
        name="language"
        choices={languages.map(value => ({ value, label: words.languages[value] }))}
        value={language}
        onChange={setLanguage}
      />
      <Code text={snippet({ language, kind, body, secret })} label={words.code} />
      {secret === undefined && <p class="soft">{words.codeText}</p>}
    </div>
  )
}
