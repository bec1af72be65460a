/** The keys of all accounts. A key is also found by its text, which goes in a body, never in an address. */
import { useLocation } from 'preact-iso'
import { answer, api } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import { pagePath } from '../../base.ts'
import { Card } from '../../parts/facts.tsx'
import { ActionForm, TextField } from '../../parts/form.tsx'
import { cursorOf, Filters, NoRows, SearchFilter, useQuery } from '../../parts/filters.tsx'
import { Empty, Loaded } from '../../parts/notes.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Pager } from '../../parts/table.tsx'
import { toast } from '../../parts/toast.tsx'
import { keysTexts } from './texts.ts'
import { GatewayDefaults } from './defaults.tsx'
import { KeysWithAccounts } from './key-table.tsx'

const words = keysTexts

export function Keys() {
  const { route } = useLocation()
  return (
    <>
      <PageHead
        title={words.title}
        lead={
          <>
            {words.lead} <a href="accounts">{words.toAccounts}</a>
          </>
        }
      />
      <AllKeys />
      <div class="grid after-list">
        <Card title={words.find}>
          <ActionForm
            submit={words.findSubmit}
            onSubmit={async ({ key = '' }) => {
              const found = await answer(api.POST('/admin/api/keys/find', { body: { key } }))
              if (found.found_secret !== null) toast(words.foundSecret(found.found_secret))
              route(pagePath(`keys/${found.id}`))
            }}
          >
            <TextField label={words.key} name="key" hint={words.findHint} autoComplete="off" required />
          </ActionForm>
        </Card>
        <GatewayDefaults />
      </div>
    </>
  )
}

const ROWS = 50

/** Longer than any id, and shorter than the text of a key, which must not get into the address. */
const SEARCHED = { pattern: '.{0,32}', problem: words.searchTooLong } as const

function AllKeys() {
  const [query] = useQuery()
  const { search = '', cursor = '' } = query
  const keys = useResource(
    `${search} ${cursor}`,
    () => {
      const searched = search === '' ? {} : { search }
      const params = { query: { limit: ROWS, ...searched, ...cursorOf(query) } }
      return answer(api.GET('/admin/api/keys', { params }))
    },
    { subject: 'keys' },
  )
  return (
    <section aria-label={words.title}>
      <Filters>
        <SearchFilter label={words.search} format={SEARCHED} />
      </Filters>
      <Loaded of={keys}>
        {({ data, next }) =>
          data.length === 0 ? (
            <NoRows names={['search']}>
              <Empty title={words.empty} text={words.emptyAllText}>
                <a class="button" href="accounts">
                  {words.toAccounts}
                </a>
              </Empty>
            </NoRows>
          ) : (
            <>
              <KeysWithAccounts keys={data} isPart={cursor !== '' || next !== null} />
              <Pager next={next} shown={data.length} />
            </>
          )
        }
      </Loaded>
    </section>
  )
}
