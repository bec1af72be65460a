/** One account: its head with the actions, and the tab that the address names. */
import { useRoute } from 'preact-iso'
import { useState } from 'preact/hooks'
import { answer, api } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { Confirm } from '../../parts/dialog.tsx'
import { Tabs } from '../../parts/facts.tsx'
import { Loaded } from '../../parts/notes.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { toast } from '../../parts/toast.tsx'
import { mayGrant, mayOperate } from '../../session.ts'
import { accountsTexts } from './texts.ts'
import { AccountKeys } from './account-keys.tsx'
import { AccountLimits } from './account-limits.tsx'
import { AccountProjects } from './account-projects.tsx'
import { at, stateOf, type AccountChange, type TabProps } from './account-state.tsx'
import { Debit, Grant } from './money-dialogs.tsx'
import { AccountOverview } from './overview.tsx'
import { Statement } from './statement.tsx'

const words = accountsTexts

const tabs = ['overview', 'statement', 'keys', 'projects', 'limits'] as const
type Tab = (typeof tabs)[number]

export function AccountPage() {
  const { params } = useRoute()
  const id = params['account'] ?? ''
  const tab = tabs.find(tab => tab === params['tab']) ?? 'overview'
  const account = useResource(id, () => answer(api.GET('/admin/api/accounts/{account}', at(id))))
  // Each movement of money reads the balance and the statement again.
  const [turn, setTurn] = useState(0)
  const refresh = () => {
    account.reload()
    setTurn(turn => turn + 1)
  }
  const change = async (body: AccountChange) => {
    const path = '/admin/api/accounts/{account}'
    const { warnings = [] } = await answer(api.PATCH(path, { ...at(id), body }))
    for (const warning of warnings) toast(warning, 'warn')
    account.reload()
  }
  const hrefOf = (tab: Tab) => (tab === 'overview' ? `accounts/${id}` : `accounts/${id}/${tab}`)
  return (
    <>
      <PageHead
        title={account.value?.name ?? words.account}
        parent={{ href: 'accounts', label: words.title }}
      >
        {account.value !== undefined && <Actions account={account.value} onChanged={refresh} />}
      </PageHead>
      <Tabs
        label={words.account}
        current={hrefOf(tab)}
        tabs={tabs.map(tab => ({ href: hrefOf(tab), label: words.tabs[tab] }))}
      />
      <Loaded of={account}>
        {value => {
          const props = { account: value, onChange: change, onChanged: refresh }
          switch (tab) {
            case 'overview':
              return <AccountOverview key={turn} {...props} />
            case 'statement':
              return <Statement key={turn} {...props} />
            case 'keys':
              return <AccountKeys {...props} />
            case 'projects':
              return <AccountProjects {...props} />
            case 'limits':
              return <AccountLimits {...props} />
          }
        }}
      </Loaded>
    </>
  )
}

type Asking = 'grant' | 'debit' | 'suspend' | 'close'

function Actions({ account, onChanged }: Pick<TabProps, 'account' | 'onChanged'>) {
  const [asking, ask] = useState<Asking>()
  const state = stateOf(account)
  if (state === 'closed') return null
  const close = () => ask(undefined)
  return (
    <>
      {mayGrant() && (
        <button type="button" class="button primary" onClick={() => ask('grant')}>
          {words.grant}
        </button>
      )}
      {mayOperate() && (
        <>
          <button type="button" class="button" onClick={() => ask('debit')}>
            {words.debit}
          </button>
          {state === 'suspended' ? (
            <ActionButton
              onPress={async () => {
                await answer(api.POST('/admin/api/accounts/{account}/resume', at(account.id)))
                toast(words.resumed)
                onChanged()
              }}
            >
              {words.resume}
            </ActionButton>
          ) : (
            <button type="button" class="button" onClick={() => ask('suspend')}>
              {words.suspend}
            </button>
          )}
          <button type="button" class="button destructive" onClick={() => ask('close')}>
            {words.close}
          </button>
        </>
      )}
      {asking !== undefined && (
        <Asked about={asking} account={account} onChanged={onChanged} onClose={close} />
      )}
    </>
  )
}

function Asked({
  about,
  account,
  onChanged,
  onClose,
}: Pick<TabProps, 'account' | 'onChanged'> & { readonly about: Asking; readonly onClose: () => void }) {
  switch (about) {
    case 'grant':
      return <Grant account={account} onClose={onClose} onDone={onChanged} />
    case 'debit':
      return <Debit account={account} onClose={onClose} onDone={onChanged} />
    case 'suspend':
      return (
        <Confirm
          title={words.suspendTitle(account.name)}
          action={words.suspend}
          onConfirm={async () => {
            await answer(api.POST('/admin/api/accounts/{account}/suspend', at(account.id)))
            toast(words.suspended)
            onChanged()
          }}
          onClose={onClose}
        >
          <p>{words.suspendText}</p>
        </Confirm>
      )
    case 'close':
      return (
        <Confirm
          title={words.closeTitle(account.name)}
          action={words.close}
          onConfirm={async () => {
            await answer(api.POST('/admin/api/accounts/{account}/close', at(account.id)))
            toast(words.closed)
            onChanged()
          }}
          onClose={onClose}
        >
          <p>{words.closeText}</p>
        </Confirm>
      )
  }
}
