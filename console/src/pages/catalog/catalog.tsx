/** The whole catalog as a file: out as YAML, and in after a preview. */
import { useState } from 'preact/hooks'
import { adminUrl, answer, api, ApiError, send } from '../../api/client.ts'
import type { components } from '../../api/schema.d.ts'
import { useResource } from '../../api/resource.ts'
import { ChangedRows, Remarks, type CatalogChanges } from '../../parts/catalog-changes.tsx'
import { Confirm } from '../../parts/dialog.tsx'
import { Card, Figure, Figures, Instant, Tabs } from '../../parts/facts.tsx'
import { ActionForm, TextArea } from '../../parts/form.tsx'
import { count } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { Loaded } from '../../parts/notes.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { toast } from '../../parts/toast.tsx'
import { hasRole } from '../../session.ts'
import { catalogTabs } from '../../pages.ts'
import { catalogTexts } from './texts.ts'
import { modelsTexts } from '../models/texts.ts'
import { priceListsTexts } from '../price-lists/texts.ts'
import { providersTexts } from '../providers/texts.ts'
import { rowsTexts } from '../../parts/texts.ts'
import { navigationTexts } from '../../texts.ts'

const words = catalogTexts

/** As JSON, which is what a call without `Accept: application/yaml` gets. */
type Catalog = components['schemas']['Catalog']

export function CatalogPage() {
  const catalog = useResource('catalog', async () => (await answer(api.GET('/admin/api/catalog'))) as Catalog)
  return (
    <>
      <PageHead title={words.title} lead={words.lead}>
        <a class="button" href={adminUrl('catalog?format=yaml')} download="catalog.yaml">
          <Icon name="download" />
          {words.download}
        </a>
      </PageHead>
      <Tabs label={navigationTexts.models} current="catalog" tabs={catalogTabs} />
      <Loaded of={catalog}>
        {({ revision, updated_at: at, providers, models, price_lists: lists = [] }) => (
          <div class="stack">
            <Figures>
              <Figure label={words.revision} value={count(revision)} note={<Instant at={at} />} />
              <Figure label={providersTexts.title} value={count(providers.length)} />
              <Figure label={modelsTexts.title} value={count(models.length)} />
              <Figure label={priceListsTexts.title} value={count(lists.length)} />
            </Figures>
            {hasRole('owner') ? (
              <Import key={revision} onStored={catalog.reload} />
            ) : (
              <p class="soft">{words.onlyOwners}</p>
            )}
          </div>
        )}
      </Loaded>
    </>
  )
}

type Shown = { readonly text: string; readonly changes: CatalogChanges }

function Import({ onStored }: { readonly onStored: () => void }) {
  const [text, setText] = useState('')
  const [shown, show] = useState<Shown>()
  return (
    <Card title={words.import}>
      <ActionForm
        submit={rowsTexts.preview}
        onSubmit={async values => {
          const yaml = values['yaml'] ?? ''
          show({ text: yaml, changes: (await putYaml(yaml, { dry_run: 'true' })) as CatalogChanges })
        }}
      >
        <p>{words.importText}</p>
        <label class="field">
          <span class="label">{words.chooseFile}</span>
          <input
            class="input"
            type="file"
            accept=".yaml,.yml,.json"
            onChange={event => {
              const [file] = event.currentTarget.files ?? []
              void file?.text().then(setText)
            }}
          />
        </label>
        <TextArea
          label={words.yaml}
          name="yaml"
          isCode
          required
          value={text}
          onInput={event => setText(event.currentTarget.value)}
        />
      </ActionForm>
      {shown !== undefined && (
        <Confirm
          title={words.previewTitle}
          action={words.replace}
          isDanger={shown.changes.removals.length > 0}
          isWide
          onConfirm={async () => {
            await putYaml(shown.text, { revision: String(shown.changes.revision) })
            toast(words.replaced)
            onStored()
          }}
          onClose={() => show(undefined)}
        >
          <Remarks of={shown.changes} />
          <ChangedRows of={shown.changes.changes} isReordered={shown.changes.is_reordered} />
        </Confirm>
      )}
    </Card>
  )
}

/** Rejects with an error at the text, whatever row it names: its message has the line. */
async function putYaml(text: string, query: Record<string, string>): Promise<unknown> {
  const url = adminUrl(`catalog?${new URLSearchParams(query)}`)
  try {
    const headers = { 'content-type': 'application/yaml' }
    return await (await send(new Request(url, { method: 'PUT', body: text, headers }))).json()
  } catch (error) {
    if (!(error instanceof ApiError) || error.code === 'catalog_changed') throw error
    throw new ApiError(error.status, error.message, { param: 'yaml', code: error.code })
  }
}
