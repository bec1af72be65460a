/** One request, found by any of its ids: how it ended and why, each step in order, and each part of its cost. */
import { useRoute } from 'preact-iso'
import { answer, api } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import type { components } from '../../api/schema.d.ts'
import { Badge, Card, Facts, Figure, Figures, Instant, Money, Secret } from '../../parts/facts.tsx'
import { milliseconds, money } from '../../parts/format.ts'
import { Loaded } from '../../parts/notes.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { pageIn, Subject } from '../../parts/subject.tsx'
import { Timeline } from '../../parts/timeline.tsx'
import { requestsTexts } from './texts.ts'
import { ChargeCard } from './charge-card.tsx'
import { stepsOf } from './request-steps.ts'
import { whatToDo } from './what-to-do.ts'

const words = requestsTexts

export type RequestPage = components['schemas']['AdminRequestPage']
type MovementPage = components['schemas']['AdminMovementPage']

export function RequestPageOf() {
  const id = useRoute().params['request'] ?? ''
  const found = useResource(id, () =>
    answer(api.GET('/admin/api/requests/{request}', { params: { path: { request: id } } })),
  )
  const { value } = found
  const title = value?.object === 'movement_page' ? words.movements[value.kind] : words.one
  return (
    <>
      <PageHead
        title={title}
        parent={{ href: 'requests', label: words.title }}
        lead={<Secret text={value?.id ?? id} label={words.copyId} />}
      />
      <Loaded of={found}>
        {page => (page.object === 'movement_page' ? <Movement of={page} /> : <Request of={page} />)}
      </Loaded>
    </>
  )
}

function Movement({ of }: { readonly of: MovementPage }) {
  return (
    <Card title={words.movements[of.kind]}>
      <Facts
        of={[
          [words.amount, <Money of={of.amount_usd} />],
          [words.account, <Subject id={of.account}>{of.account_name ?? of.account}</Subject>],
          [words.time, <Instant at={of.created_at} />],
          [words.note, of.note ?? '–'],
        ]}
      />
    </Card>
  )
}

const toneOf = {
  charged: 'good',
  given_back: 'warn',
  replayed: 'plain',
  running: 'accent',
  refused: 'warn',
  failed: 'bad',
  cancelled: 'plain',
  uncharged: 'plain',
} as const satisfies Record<RequestPage['outcome'], string>

function Request({ of: page }: { readonly of: RequestPage }) {
  const { request, charge, hold } = page
  return (
    <div class="stack">
      <Figures>
        <Figure
          label={words.outcome}
          value={<Badge tone={toneOf[page.outcome]}>{words.outcomes[page.outcome]}</Badge>}
          note={
            request === null ? undefined : [request.status, request.error_code].filter(Boolean).join(' · ')
          }
        />
        <Figure label={words.cost} value={money(charge?.cost_usd ?? request?.cost_usd)} />
        <Figure
          label={words.held}
          value={money(hold?.amount_usd)}
          note={hold === null ? undefined : words.holdStates[hold.state]}
        />
        <Figure
          label={words.duration}
          value={milliseconds(request?.duration_ms)}
          note={words.firstByteAfter(milliseconds(request?.first_byte_ms))}
        />
      </Figures>
      <div class="grid tops">
        <div class="stack">
          <Why of={page} />
          <About of={page} />
        </div>
        <Card title={words.happened}>
          <Timeline steps={stepsOf(page)} />
        </Card>
      </div>
      {charge !== null && <ChargeCard of={charge} />}
    </div>
  )
}

function Why({ of: page }: { readonly of: RequestPage }) {
  const advice = whatToDo(page)
  return (
    <Card title={words.why}>
      <div class="stack">
        <ul class="sentences">
          {page.why.map(sentence => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
        {advice.length > 0 && (
          <div class="note">
            <div>
              <strong>{words.whatToDo}</strong>
              {advice.map(({ text, href, label }) => (
                <p key={text}>
                  {text} {href !== undefined && <a href={href}>{label}</a>}
                </p>
              ))}
            </div>
          </div>
        )}
      </div>
    </Card>
  )
}

function About({ of: page }: { readonly of: RequestPage }) {
  const { request, charge, job } = page
  const model = request?.model ?? charge?.model ?? job?.model
  const modelPage = model === undefined || model === null ? undefined : pageIn('models', model)
  const tags = Object.entries(request?.tags ?? charge?.tags ?? {})
  return (
    <Card title={words.about}>
      <Facts
        of={[
          [words.account, <Subject id={page.account}>{page.account_name ?? page.account}</Subject>],
          [words.key, <Subject id={request?.key} />],
          ...row(words.project, request?.project && <Subject id={request.project} />),
          [words.model, modelPage === undefined ? (model ?? '–') : <a href={modelPage}>{model}</a>],
          [words.route, request?.route ?? charge?.route ?? job?.route ?? '–'],
          ...row(words.job, job && <Subject id={job.id} />),
          ...row(words.replayOf, request?.replay_of && <Subject id={request.replay_of} />),
          ...row(words.user, request?.user ?? charge?.user),
          ...row(
            words.tags,
            tags.length > 0 && tags.map(pair => <Badge key={pair[0]}>{pair.join('=')}</Badge>),
          ),
          [words.time, <Instant at={request?.created_at ?? charge?.created_at ?? job?.created_at} />],
        ]}
      />
    </Card>
  )
}

/** A fact that is left out if there is nothing to say. */
function row<Value>(
  name: string,
  value: Value | null | undefined | false | '',
): (readonly [string, Value])[] {
  return value === null || value === undefined || value === false || value === '' ? [] : [[name, value]]
}
