/** Fields in which an account is named: while one types, they suggest accounts whose name or id has the text. */
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { answer, api } from '../api/client.ts'
import { useResource, type Resource } from '../api/resource.ts'
import type { components } from '../api/schema.d.ts'
import { partsTexts } from './texts.ts'
import { useQuery } from './filters.tsx'
import { money } from './format.ts'

type Accounts = { readonly data: readonly components['schemas']['Account'][] }
const SUGGESTIONS_MAX = 20

/**
 * The accounts whose name or id has the text; none for undefined. Each key is a search of its own, which ends the one
 * before.
 */
export function useAccountSearch(text: string | undefined): Resource<Accounts> {
  return useResource(`accounts ${text ?? '-'}`, async signal => {
    if (text === undefined) return { data: [] }
    const query = { limit: SUGGESTIONS_MAX, ...(text !== '' && { search: text }) }
    return answer(api.GET('/admin/api/accounts', { params: { query }, signal }))
  })
}

/** The suggestions of the field whose `list` is `id`. */
export function AccountOptions({ id, of: found }: { readonly id: string; readonly of: Resource<Accounts> }) {
  return (
    <datalist id={id}>
      {found.value?.data.map(({ id, name, available_usd: available }) => (
        <option key={id} value={name}>
          {money(available)}
        </option>
      ))}
    </datalist>
  )
}

/** A filter by an account. Its id is in the address, and its name in the field. */
export function AccountFilter({ label }: { readonly label: string }) {
  const [query, change] = useQuery()
  const value = query['account'] ?? ''
  const id = useId()
  const input = useRef<HTMLInputElement>(null)
  const [typed, setTyped] = useState<string>()
  const [isDone, setDone] = useState(false)
  const found = useAccountSearch(typed ?? (value === '' ? undefined : value))
  const name = found.value?.data.find(account => account.id === value)?.name ?? value
  useEffect(() => {
    // The account was chosen here, or the address has changed: by the back button, or one that clears the filters.
    if (input.current === null || document.activeElement === input.current) return
    input.current.value = name
    setTyped(undefined)
    setDone(false)
  }, [name])
  const named = typed === undefined ? undefined : accountNamed(typed, found.value?.data ?? [], isDone)
  useEffect(() => {
    if (named !== undefined) change({ account: named.id })
  }, [named?.id])
  const isUnknown = isDone && typed !== undefined && typed !== '' && !found.isLoading && named === undefined
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        class="input"
        ref={input}
        id={id}
        type="search"
        list={`${id}-accounts`}
        autoComplete="off"
        placeholder={partsTexts.accountHint}
        defaultValue={name}
        aria-invalid={isUnknown}
        aria-describedby={isUnknown ? `${id}-problem` : undefined}
        // The first suggestions are there before the first key.
        onFocus={() => setTyped(typed ?? input.current?.value.trim())}
        onInput={({ currentTarget: { value } }) => {
          setDone(false)
          setTyped(value.trim())
          if (value.trim() === '') change({ account: '' })
        }}
        onChange={() => setDone(true)}
      />
      <AccountOptions id={`${id}-accounts`} of={found} />
      {isUnknown && (
        <span class="problem" id={`${id}-problem`}>
          {partsTexts.noSuchAccount}
        </span>
      )}
    </div>
  )
}

/**
 * The account that a text names, in upper or lower case, or by its id. When the user is done, a part of a name is enough
 * if only one account has it.
 */
function accountNamed(text: string, found: Accounts['data'], isDone: boolean) {
  if (text === '') return undefined
  const wanted = text.toLowerCase()
  return (
    found.find(({ name, id }) => name === text || id === wanted) ??
    found.find(({ name }) => name.toLowerCase() === wanted) ??
    (isDone && found.length === 1 ? found[0] : undefined)
  )
}
