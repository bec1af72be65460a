/** Tables of keys, in the order of their creation. */
import type { ComponentChildren } from 'preact'
import type { components } from '../../api/schema.d.ts'
import { ChoiceFilter, Filters, NothingMatches, SearchFilter, useQuery } from '../../parts/filters.tsx'
import { Ago, Badge, type BadgeTone } from '../../parts/facts.tsx'
import { day } from '../../parts/format.ts'
import { accountColumn } from '../../parts/subject.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { keysTexts } from './texts.ts'
import type { ListedKey } from './key-fields.tsx'

const words = keysTexts

type KeyOfAccount = components['schemas']['KeyOfAccount']
type KeyState = keyof typeof words.states

const toneOf = {
  active: 'good',
  disabled: 'warn',
  expired: 'plain',
  revoked: 'bad',
} as const satisfies Record<KeyState, BadgeTone>

export function stateOf({ revoked_at, disabled_at, expires_at }: ListedKey): KeyState {
  if (revoked_at !== null) return 'revoked'
  if (expires_at !== null && new Date(expires_at).getTime() <= Date.now()) return 'expired'
  return disabled_at === null ? 'active' : 'disabled'
}

export function KeyBadge({ of: key }: { readonly of: ListedKey }) {
  const state = stateOf(key)
  return <Badge tone={toneOf[state]}>{words.states[state]}</Badge>
}

const stateChoices = (['active', 'disabled', 'expired', 'revoked'] as const).map(value => ({
  value,
  label: words.states[value],
}))

/** The keys of an account, which the gateway lists all at once, with filters. */
export function FilteredKeys({
  keys,
  projectNames,
  children,
}: {
  readonly keys: readonly ListedKey[]
  /** By their ids. */
  readonly projectNames: ReadonlyMap<string, string>
  /** The actions of the list. */
  readonly children: ComponentChildren
}) {
  const [{ search = '', state = '' }] = useQuery()
  const wanted = search.toLowerCase()
  const shown = keys.filter(
    key =>
      (state === '' || stateOf(key) === state) &&
      [key.name, key.id, key.prefix].some(text => text.toLowerCase().includes(wanted)),
  )
  return (
    <>
      <Filters>
        <SearchFilter />
        <ChoiceFilter name="state" label={words.state} choices={stateChoices} />
        <span class="end">{children}</span>
      </Filters>
      {shown.length === 0 ? (
        <NothingMatches names={['search', 'state']} text={words.noMatch} />
      ) : (
        <KeyTable keys={shown} projectNames={projectNames} />
      )}
    </>
  )
}

export function KeyTable({
  keys,
  projectNames,
}: {
  readonly keys: readonly ListedKey[]
  readonly projectNames?: ReadonlyMap<string, string>
}) {
  const project: Column<ListedKey> = {
    label: words.project,
    show: ({ project: id }) =>
      id === null ? '–' : <a href={`projects/${id}`}>{projectNames?.get(id) ?? id}</a>,
  }
  const columns = projectNames === undefined ? [...identity, ...times] : [...identity, project, ...times]
  return <Table label={words.title} rows={keys} columns={columns} keyOf={({ id }) => id} />
}

/** Keys of all accounts. */
export function KeysWithAccounts({
  keys,
  isPart,
}: {
  readonly keys: readonly KeyOfAccount[]
  readonly isPart: boolean
}) {
  return (
    <Table label={words.title} rows={keys} columns={withAccounts} keyOf={({ id }) => id} isPart={isPart} />
  )
}

const identity: readonly Column<ListedKey>[] = [
  {
    label: words.name,
    show: ({ id, name }) => <a href={`keys/${id}`}>{name || id}</a>,
    sortBy: ({ id, name }) => name || id,
  },
  { label: words.secret, show: ({ prefix }) => <code>{prefix}…</code> },
  { label: words.state, show: key => <KeyBadge of={key} />, sortBy: stateOf },
]

const times: readonly Column<ListedKey>[] = [
  {
    label: words.lastUsed,
    show: ({ last_used_on: on }) => (on === null ? words.never : day(on)),
    sortBy: ({ last_used_on: on }) => on ?? '',
  },
  {
    label: words.expires,
    show: ({ expires_at: at }) => (at === null ? words.never : <Ago at={at} />),
    sortBy: ({ expires_at: at }) => at ?? '',
  },
  {
    label: words.created,
    show: ({ created_at: at }) => <Ago at={at} />,
    sortBy: ({ created_at: at }) => at,
  },
]

const withAccounts: readonly Column<KeyOfAccount>[] = [
  ...identity.slice(0, 1),
  { ...accountColumn(words.account, row => row), sortBy: ({ account_name: name }) => name ?? '' },
  ...identity.slice(1),
  ...times,
]
