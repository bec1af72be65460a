/** The settings of an account: name, price list, contacts, and when it is told about a low balance. */
import { useState } from 'preact/hooks'
import { answer, api } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Card, Facts, Instant, Secret } from '../../parts/facts.tsx'
import {
  ActionForm,
  CheckField,
  MoneyField,
  SelectField,
  TextArea,
  TextField,
  type FormValues,
} from '../../parts/form.tsx'
import { money } from '../../parts/format.ts'
import { Loaded } from '../../parts/notes.tsx'
import { toast } from '../../parts/toast.tsx'
import { mayOperate } from '../../session.ts'
import { accountsTexts } from './texts.ts'
import { partsTexts } from '../../parts/texts.ts'
import { linesOf } from '../keys/key-fields.tsx'
import type { Account, AccountChange, TabProps } from './account-state.tsx'

const words = accountsTexts

export function AccountSettings({ account, onChange }: Pick<TabProps, 'account' | 'onChange'>) {
  const [isEditing, setEditing] = useState(false)
  const { price_list: list, alert_below_usd: alert, contacts } = account
  const edit = mayOperate() && account.closed_at === null && (
    <button type="button" class="button small" onClick={() => setEditing(true)}>
      {words.edit}
    </button>
  )
  return (
    <Card title={words.settings} actions={edit}>
      <Facts
        of={[
          [words.id, <Secret text={account.id} />],
          [words.created, <Instant at={account.created_at} />],
          [
            words.priceList,
            list === null ? (
              words.catalogPrices
            ) : (
              <a href={`price-lists/${encodeURIComponent(list)}`}>{list}</a>
            ),
          ],
          [words.alert, alert === null ? words.noAlert : words.alertBelow(money(alert))],
          [words.contacts, contacts.length === 0 ? words.noContacts : contacts.join(', ')],
          [words.jobEvents, account.job_events ? words.on : words.off],
          [words.replays, account.replays ? words.on : words.off],
        ]}
      />
      {isEditing && <Edit account={account} onChange={onChange} onClose={() => setEditing(false)} />}
    </Card>
  )
}

function Edit({
  account,
  onChange,
  onClose,
}: Pick<TabProps, 'account' | 'onChange'> & { readonly onClose: () => void }) {
  const lists = useResource('price lists', () => answer(api.GET('/admin/api/price-lists')))
  return (
    <Dialog title={words.settings} onClose={onClose}>
      <Loaded of={lists}>
        {({ data }) => (
          <ActionForm
            submit={partsTexts.save}
            onCancel={onClose}
            onSubmit={async values => {
              await onChange(changeOf(values, account))
              toast(words.saved)
              onClose()
            }}
          >
            <TextField label={words.name} name="name" defaultValue={account.name} maxLength={100} required />
            <SelectField
              label={words.priceList}
              name="price_list"
              value={account.price_list ?? ''}
              choices={[
                { value: '', label: words.catalogPrices },
                ...data.map(({ id }) => ({ value: id, label: id })),
              ]}
            />
            <MoneyField
              label={words.alertField}
              name="alert_below_usd"
              hint={words.alertHint}
              defaultValue={account.alert_below_usd ?? undefined}
            />
            <TextArea
              label={words.contacts}
              name="contacts"
              hint={words.contactsHint}
              defaultValue={account.contacts.join('\n')}
            />
            <CheckField
              label={words.jobEvents}
              name="job_events"
              hint={words.jobEventsHint}
              isChecked={account.job_events}
            />
            <CheckField
              label={words.replays}
              name="replays"
              hint={words.replaysHint}
              isChecked={account.replays}
            />
          </ActionForm>
        )}
      </Loaded>
    </Dialog>
  )
}

/** Only what differs, so that the audit log names what the user changed. */
function changeOf(values: FormValues, account: Account): AccountChange {
  const wanted = {
    name: values['name'] ?? '',
    price_list: values['price_list'] || null,
    alert_below_usd: values['alert_below_usd'] || null,
    contacts: linesOf(values['contacts']) ?? [],
    job_events: values['job_events'] !== undefined,
    replays: values['replays'] !== undefined,
  }
  const changed = Object.entries(wanted).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(account[name as keyof typeof wanted]),
  )
  // An empty change is refused; the name as it is changes nothing.
  return changed.length === 0 ? { name: account.name } : Object.fromEntries(changed)
}
