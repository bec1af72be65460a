/** The keys of an account. */
import { useState } from 'preact/hooks'
import { answer, api } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import { Icon } from '../../parts/icon.tsx'
import { Empty, Loaded } from '../../parts/notes.tsx'
import { mayOperate } from '../../session.ts'
import { keysTexts } from '../keys/texts.ts'
import { FilteredKeys } from '../keys/key-table.tsx'
import { NewKey } from '../keys/new-key.tsx'
import { at, type TabProps } from './account-state.tsx'

const words = keysTexts

async function readKeys(account: string) {
  const [keys, projects] = await Promise.all([
    answer(api.GET('/admin/api/accounts/{account}/keys', at(account))),
    answer(api.GET('/admin/api/accounts/{account}/projects', at(account))),
  ])
  return { keys: keys.data, projects: projects.data }
}

export function AccountKeys({ account }: TabProps) {
  const listed = useResource(account.id, () => readKeys(account.id))
  const [isCreating, setCreating] = useState(false)
  const create = mayOperate() && account.closed_at === null && (
    <button type="button" class="button primary" onClick={() => setCreating(true)}>
      <Icon name="plus" />
      {words.new}
    </button>
  )
  return (
    <>
      <Loaded of={listed}>
        {({ keys, projects }) =>
          keys.length === 0 ? (
            <Empty title={words.empty} text={words.emptyText}>
              {create}
            </Empty>
          ) : (
            <FilteredKeys keys={keys} projectNames={new Map(projects.map(({ id, name }) => [id, name]))}>
              {create}
            </FilteredKeys>
          )
        }
      </Loaded>
      {isCreating && (
        <NewKey
          account={account.id}
          projects={(listed.value?.projects ?? []).filter(({ closed_at }) => closed_at === null)}
          onClose={() => setCreating(false)}
          onCreated={listed.reload}
        />
      )}
    </>
  )
}
