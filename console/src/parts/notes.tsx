/** What a page says instead of its content: loading, an error, nothing yet. */
import type { ComponentChildren } from 'preact'
import { ApiError } from '../api/client.ts'
import type { Resource } from '../api/resource.ts'
import { partsTexts } from './texts.ts'
import { Icon, type IconName } from './icon.tsx'

const words = partsTexts

export type Tone = 'plain' | 'good' | 'warn' | 'bad'

const iconOf = { plain: 'bell', good: 'check', warn: 'warning', bad: 'warning' } as const satisfies Record<
  Tone,
  IconName
>

export function Note({
  tone = 'plain',
  children,
}: {
  readonly tone?: Tone
  readonly children: ComponentChildren
}) {
  return (
    <div class={`note ${tone}`} role={tone === 'bad' ? 'alert' : undefined}>
      <Icon name={iconOf[tone]} />
      <div>{children}</div>
    </div>
  )
}

export function Loading({ lines = 6 }: { readonly lines?: number }) {
  return (
    <div class="loading" role="status" aria-label={words.loading}>
      {Array.from({ length: lines }, (_, index) => (
        <span key={index} />
      ))}
    </div>
  )
}

export function Failure({ error, onRetry }: { readonly error: Error; readonly onRetry?: () => void }) {
  const requestId = error instanceof ApiError ? error.requestId : undefined
  return (
    <Note tone="bad">
      <strong>{words.failed}</strong>
      <p>{error.message}</p>
      {requestId !== undefined && <p>{words.requestId(requestId)}</p>}
      {onRetry !== undefined && (
        <p>
          <button type="button" class="button small" onClick={onRetry}>
            {words.retry}
          </button>
        </p>
      )}
    </Note>
  )
}

/** Says why a list is empty and what to do next. `children` are the buttons for that. */
export function Empty({
  title,
  text,
  children,
}: {
  readonly title: string
  readonly text: string
  readonly children?: ComponentChildren
}) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      <p>{text}</p>
      {children}
    </div>
  )
}

/** Shows a resource: its value, the reason why there is none, or that it is loading. */
export function Loaded<Value>({
  of: { value, error, isOld, reload },
  lines,
  children,
}: {
  readonly of: Resource<Value>
  readonly lines?: number
  readonly children: (value: Value) => ComponentChildren
}) {
  if (error !== undefined) return <Failure error={error} onRetry={reload} />
  if (value === undefined) return <Loading {...(lines !== undefined && { lines })} />
  if (isOld === undefined) return <>{children(value)}</>
  return (
    <div class={isOld ? 'kept old' : 'kept'} aria-busy={isOld}>
      {children(value)}
    </div>
  )
}
