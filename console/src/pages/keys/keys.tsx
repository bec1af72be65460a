/** Finds a key by its id, its first characters or its text. The text goes in a body, never in an address. */
import { useLocation } from 'preact-iso'
import { answer, api } from '../../api/client.ts'
import { pagePath } from '../../base.ts'
import { Card } from '../../parts/facts.tsx'
import { ActionForm, TextField } from '../../parts/form.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { toast } from '../../parts/toast.tsx'
import { texts } from '../../texts.ts'
import { GatewayDefaults } from './defaults.tsx'

const words = texts.keys

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
      <div class="grid">
        <Card title={words.find}>
          <ActionForm
            submit={words.findSubmit}
            onSubmit={async ({ key = '' }) => {
              const found = await answer(api.POST('/admin/api/keys/find', { body: { key } }))
              if (found.found_secret !== null) toast(words.foundSecret(found.found_secret))
              route(pagePath(`keys/${found.id}`))
            }}
          >
            <TextField
              label={words.key}
              name="key"
              hint={words.findHint}
              autoComplete="off"
              required
              hasFocus
            />
          </ActionForm>
        </Card>
        <GatewayDefaults />
      </div>
    </>
  )
}
