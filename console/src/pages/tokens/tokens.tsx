/** Admin tokens: keys of the admin API for programs, each with only the rights that it needs. Only owners see them. */
import { useState } from 'preact/hooks'
import { answer, api } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import { Confirm, OnceDialog } from '../../parts/dialog.tsx'
import { Ago, Badge, Instant } from '../../parts/facts.tsx'
import { cursorOf, useQuery } from '../../parts/filters.tsx'
import { day, money } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { Empty, Loaded } from '../../parts/notes.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Pager, Table, type Column } from '../../parts/table.tsx'
import { toast } from '../../parts/toast.tsx'
import { tokensTexts } from './texts.ts'
import { CreateToken, type AdminToken } from './create-token.tsx'

const words = tokensTexts

const toneOf = { active: 'good', expired: 'plain', revoked: 'bad' } as const

export function Tokens() {
  const [query] = useQuery()
  const tokens = useResource(`tokens ${query['cursor'] ?? ''}`, () =>
    answer(api.GET('/admin/api/tokens', { params: { query: cursorOf(query) } })),
  )
  const [isCreating, setCreating] = useState(false)
  const [made, setMade] = useState<string>()
  const create = (
    <button type="button" class="button primary" onClick={() => setCreating(true)}>
      <Icon name="plus" />
      {words.create}
    </button>
  )
  return (
    <>
      <PageHead title={words.title} lead={words.lead}>
        {create}
      </PageHead>
      <Loaded of={tokens}>
        {({ data, next }) =>
          data.length === 0 ? (
            <Empty title={words.empty} text={words.emptyText}>
              {create}
            </Empty>
          ) : (
            <TokenTable
              rows={data}
              next={next}
              isPart={query['cursor'] !== undefined || next !== null}
              onRevoked={tokens.reload}
            />
          )
        }
      </Loaded>
      {isCreating && (
        <CreateToken
          onClose={() => setCreating(false)}
          onCreated={token => {
            setCreating(false)
            setMade(token)
            tokens.reload()
          }}
        />
      )}
      {made !== undefined && (
        <OnceDialog
          title={words.madeTitle}
          lead={words.madeText}
          text={made}
          copy={words.copyToken}
          done={words.done}
          onClose={() => setMade(undefined)}
        />
      )}
    </>
  )
}

function TokenTable({
  rows,
  next,
  isPart,
  onRevoked,
}: {
  readonly rows: readonly AdminToken[]
  readonly next: string | null
  readonly isPart: boolean
  readonly onRevoked: () => void
}) {
  const [revoked, setRevoked] = useState<AdminToken>()
  return (
    <>
      <Table
        label={words.title}
        rows={rows}
        columns={columnsOf(setRevoked)}
        keyOf={({ id }) => id}
        isPart={isPart}
      />
      <Pager next={next} shown={rows.length} />
      {revoked !== undefined && (
        <Revoke token={revoked} onRevoked={onRevoked} onClose={() => setRevoked(undefined)} />
      )}
    </>
  )
}

function Revoke({
  token,
  onRevoked,
  onClose,
}: {
  readonly token: AdminToken
  readonly onRevoked: () => void
  readonly onClose: () => void
}) {
  return (
    <Confirm
      title={words.revokeTitle(token.name)}
      action={words.revoke}
      onConfirm={async () => {
        await answer(api.DELETE('/admin/api/tokens/{token}', { params: { path: { token: token.id } } }))
        toast(words.revoked)
        onRevoked()
      }}
      onClose={onClose}
    >
      <p>{words.revokeText}</p>
    </Confirm>
  )
}

function columnsOf(onRevoke: (token: AdminToken) => void): readonly Column<AdminToken>[] {
  return [
    {
      label: words.name,
      show: ({ name, prefix }) => (
        <>
          <strong>{name}</strong>
          <br />
          <code class="soft">{prefix}…</code>
        </>
      ),
      sortBy: ({ name }) => name,
    },
    { label: words.scopes, show: ({ scopes }) => scopes.map(scope => words.scopeNames[scope]).join(', ') },
    { label: words.grants, isNumber: true, show: token => <Grants of={token} /> },
    {
      label: words.state,
      show: ({ state }) => <Badge tone={toneOf[state]}>{words.states[state]}</Badge>,
      sortBy: ({ state }) => state,
    },
    { label: words.lastUsed, show: ({ last_used_on: on }) => (on === null ? words.never : day(on)) },
    {
      label: words.expires,
      show: ({ expires_at: at }) => (at === null ? words.never : <Instant at={at} />),
    },
    {
      label: words.created,
      show: ({ created_at: at, created_by: actor }) => (
        <>
          <Ago at={at} />
          <br />
          <span class="soft">{actor.replace(/^user:(\S+) .*$/, '$1')}</span>
        </>
      ),
      sortBy: row => row.created_at,
    },
    {
      label: words.action,
      show: token =>
        token.state === 'active' && (
          <button
            type="button"
            class="button small destructive"
            aria-label={words.revokeOf(token.name)}
            onClick={() => onRevoke(token)}
          >
            {words.revoke}
          </button>
        ),
    },
  ]
}

function Grants({
  of: { grants_per_day_usd: limit, granted_today_usd: today },
}: {
  readonly of: AdminToken
}) {
  return limit === null ? <>–</> : <>{words.grantsOf(money(today), money(limit))}</>
}
