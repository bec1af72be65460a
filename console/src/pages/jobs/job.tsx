/** One job: its pictures or clip, why it is in its state, what happens next, its history and its money. */
import { useRoute } from 'preact-iso'
import { answer, api } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import type { components } from '../../api/schema.d.ts'
import { Ago, Badge, Card, Code, Facts, Figure, Figures, Instant, Secret } from '../../parts/facts.tsx'
import { money } from '../../parts/format.ts'
import { Loaded } from '../../parts/notes.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { pageIn, Subject } from '../../parts/subject.tsx'
import { Timeline } from '../../parts/timeline.tsx'
import { jobsTexts } from './texts.ts'
import { JobResults } from './job-results.tsx'
import { jobTones } from './jobs.tsx'

const words = jobsTexts

export type Job = components['schemas']['JobDetails']

export function JobPage() {
  const id = useRoute().params['job'] ?? ''
  const job = useResource(id, () =>
    answer(api.GET('/admin/api/jobs/{job}', { params: { path: { job: id } } })),
  )
  return (
    <>
      <PageHead
        title={job.value === undefined ? words.one : words.ofKind[job.value.kind]}
        parent={{ href: 'jobs', label: words.title }}
        lead={<Secret text={id} label={words.copyId} />}
      >
        <button type="button" class="button" disabled={job.isLoading} onClick={job.reload}>
          {words.refresh}
        </button>
      </PageHead>
      <Loaded of={job}>
        {value => (
          <div class="stack">
            <Amounts of={value} />
            <JobResults of={value} />
            <div class="grid tops">
              <div class="stack">
                <Why of={value} />
                <Details of={value} />
              </div>
              <div class="stack">
                <Card title={words.history}>
                  <Timeline
                    steps={value.history.map(({ state, detail, at }) => ({
                      title: words.states[state],
                      text: detail,
                      at,
                      tone: jobTones[state],
                    }))}
                  />
                </Card>
                <Asked of={value} />
              </div>
            </div>
          </div>
        )}
      </Loaded>
    </>
  )
}

type Props = { readonly of: Job }

function Amounts({ of: job }: Props) {
  return (
    <Figures>
      <Figure
        label={words.state}
        value={<Badge tone={jobTones[job.state]}>{words.states[job.state]}</Badge>}
        note={<Ago at={job.changed_at} />}
      />
      <Figure label={words.held} value={money(job.held_usd)} />
      <Figure label={words.cost} value={money(job.cost_usd)} />
      <Figure label={words.providerCost} value={money(job.provider_cost_usd)} />
      {job.loss_usd !== null && job.loss_usd !== '0' && (
        <Figure label={words.loss} value={money(job.loss_usd)} note={words.lossNote} />
      )}
    </Figures>
  )
}

function Why({ of: job }: Props) {
  const { failure, problem } = job
  return (
    <Card title={words.why}>
      <Facts
        of={[
          [words.now, job.why],
          ...(job.next === null ? [] : [[words.next, job.next] as const]),
          ...(job.next_at === null ? [] : [[words.nextAt, <Ago at={job.next_at} />] as const]),
          ...(failure === null ? [] : [[words.failure, failureText(failure)] as const]),
          ...(problem === null ? [] : [[words.problem, problem] as const]),
        ]}
      />
    </Card>
  )
}

function failureText({ reason, code, message }: NonNullable<Job['failure']>) {
  return (
    <>
      {message} <span class="soft">{code ?? reason}</span>
    </>
  )
}

function Details({ of: job }: Props) {
  const model = pageIn('models', job.model)
  const provider = pageIn('providers', job.provider)
  return (
    <Card title={words.details}>
      <Facts
        of={[
          [words.account, <Subject id={job.account}>{job.account_name ?? job.account}</Subject>],
          [words.key, <Subject id={job.key} />],
          [words.request, <Subject id={job.request_id} />],
          [words.model, model === undefined ? job.model : <a href={model}>{job.model}</a>],
          [words.provider, provider === undefined ? job.provider : <a href={provider}>{job.provider}</a>],
          [words.upstreamModel, job.upstream_model],
          [words.upstreamId, job.upstream_id === null ? '–' : <Secret text={job.upstream_id} />],
          [words.upstreamStatus, job.upstream_status ?? '–'],
          [words.created, <Instant at={job.created_at} />],
          [words.submitted, <Instant at={job.submitted_at} />],
          [words.deadline, <Instant at={job.deadline_at} />],
          [words.node, job.node],
        ]}
      />
    </Card>
  )
}

/** The prompt belongs to the customer, and the gateway does not show it. */
function Asked({ of: { request, duration } }: Props) {
  const seconds = duration ?? request.duration
  return (
    <Card title={words.asked}>
      <div class="stack">
        <Facts
          of={[
            [words.count, String(request.count)],
            ...(seconds === null ? [] : [[words.duration, words.seconds(seconds)] as const]),
            [words.inputs, words.inputCounts(request.images, request.videos)],
          ]}
        />
        {Object.keys(request.params).length > 0 && (
          <Code label={words.params} text={JSON.stringify(request.params, null, 2)} />
        )}
      </div>
    </Card>
  )
}
