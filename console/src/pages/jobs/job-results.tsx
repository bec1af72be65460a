import { useState } from 'preact/hooks'
import { adminUrl } from '../../api/client.ts'
import { Card } from '../../parts/facts.tsx'
import { bytes } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { Note } from '../../parts/notes.tsx'
import { jobsTexts } from './texts.ts'
import type { Job } from './job.tsx'

const words = jobsTexts

/** The pictures or the clip that a job has made. */
export function JobResults({ of: job }: { readonly of: Job }) {
  if (job.outputs.length === 0) return null
  return (
    <Card title={words.results}>
      {job.archived_at === null ? (
        <ul class="results">
          {job.outputs.map((output, index) => (
            <li key={output.key}>
              <Result job={job} output={output} number={index} />
            </li>
          ))}
        </ul>
      ) : (
        <p class="soft">{words.archived}</p>
      )}
    </Card>
  )
}

type Output = Job['outputs'][number]

function Result({
  job,
  output,
  number,
}: {
  readonly job: Job
  readonly output: Output
  readonly number: number
}) {
  const [isMissing, setMissing] = useState(false)
  const source = adminUrl(`jobs/${job.id}/content/${number}`)
  const label = words.resultOf(number + 1, job.model)
  return (
    <figure>
      {isMissing ? (
        <Note tone="warn">{words.missing}</Note>
      ) : output.media_type.startsWith('video/') ? (
        <video src={source} controls preload="metadata" aria-label={label} onError={() => setMissing(true)} />
      ) : (
        <a href={source} target="_blank" rel="noreferrer">
          <img src={source} alt={label} loading="lazy" onError={() => setMissing(true)} />
        </a>
      )}
      <figcaption class="row">
        <span class="soft">
          {output.media_type}, {bytes(output.bytes)}
        </span>
        <a
          class="button small quiet"
          href={source}
          download={`${job.id}-${number}`}
          aria-label={words.downloadOf(number + 1)}
        >
          <Icon name="download" />
        </a>
      </figcaption>
    </figure>
  )
}
