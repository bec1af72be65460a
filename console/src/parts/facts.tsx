/** Small parts for one thing: facts, figures, badges, secrets and code. */
import type { ComponentChildren } from 'preact'
import { partsTexts } from './texts.ts'
import { ago, exactInstant, instant, money, moneyToCents } from './format.ts'
import { Icon } from './icon.tsx'
import { toast } from './toast.tsx'

/** A list of names and values. */
export function Facts({ of: facts }: { readonly of: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </>
      ))}
    </dl>
  )
}

/** A number that matters, large, with what it is. */
export function Figure({
  label,
  value,
  note,
}: {
  readonly label: string
  readonly value: ComponentChildren
  readonly note?: ComponentChildren
}) {
  return (
    <div class="figure">
      <span class="soft">{label}</span>
      <strong>{value}</strong>
      {note !== undefined && <span class="soft">{note}</span>}
    </div>
  )
}

export function Figures({ children }: { readonly children: ComponentChildren }) {
  return <div class="figures">{children}</div>
}

export type BadgeTone = 'plain' | 'accent' | 'good' | 'warn' | 'bad'

export function Badge({
  tone = 'plain',
  children,
}: {
  readonly tone?: BadgeTone
  readonly children: ComponentChildren
}) {
  return <span class={`badge ${tone}`}>{children}</span>
}

/** An amount in US dollars with all its decimals. */
export function Money({ of: amount }: { readonly of: string | null | undefined }) {
  return <span class="number">{money(amount)}</span>
}

/** An amount to the cent, for lists and figures of large amounts, with all its decimals as a tooltip. */
export function Cents({ of: amount }: { readonly of: string | null | undefined }) {
  return (
    <span class="number" title={money(amount)}>
      {moneyToCents(amount)}
    </span>
  )
}

/** How long ago something was, with the exact time as a tooltip. */
export function Ago({ at }: { readonly at: string | null | undefined }) {
  if (at === null || at === undefined) return <>–</>
  return (
    <time dateTime={at} title={instant(at)}>
      {ago(at)}
    </time>
  )
}

export function Instant({ at }: { readonly at: string | null | undefined }) {
  if (at === null || at === undefined) return <>–</>
  return <time dateTime={at}>{instant(at)}</time>
}

/** A time in a list, whose column is headed by `zoned`. */
export function ListedInstant({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={instant(at)}>
      {exactInstant(at)}
    </time>
  )
}

export function CopyButton({
  text,
  label = partsTexts.copy,
}: {
  readonly text: string
  readonly label?: string
}) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      toast(partsTexts.copied)
    } catch {
      // The clipboard needs HTTPS or localhost, and the permission of the user.
      toast(partsTexts.copyFailed, 'bad')
    }
  }
  return (
    <button
      type="button"
      class="button small copy"
      aria-label={label}
      title={label}
      onClick={() => void copy()}
    >
      <Icon name="copy" />
    </button>
  )
}

/** A key, a link or an id that is copied. */
export function Secret({ text, label }: { readonly text: string; readonly label?: string }) {
  return (
    <span class="secret">
      <code>{text}</code>
      <CopyButton text={text} {...(label !== undefined && { label })} />
    </span>
  )
}

export function Code({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <div class="code">
      {/* Long code is scrolled, also with the keyboard. */}
      <pre tabIndex={0} role="group" aria-label={label}>
        {text}
      </pre>
      <CopyButton text={text} />
    </div>
  )
}

/** A part of a page with a heading and its actions. */
export function Card({
  title,
  actions,
  children,
}: {
  readonly title: string
  readonly actions?: ComponentChildren
  readonly children: ComponentChildren
}) {
  return (
    <section class="card" aria-label={title}>
      <header>
        <h2>{title}</h2>
        {actions !== undefined && <div class="row">{actions}</div>}
      </header>
      {children}
    </section>
  )
}

/** Pages of one subject, each with its own address. */
export function Tabs({
  label,
  current,
  tabs,
}: {
  readonly label: string
  /** The `href` of the tab that is shown. */
  readonly current: string
  readonly tabs: readonly { readonly href: string; readonly label: string }[]
}) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(tab => (
        <a key={tab.href} href={tab.href} aria-current={tab.href === current ? 'page' : undefined}>
          {tab.label}
        </a>
      ))}
    </nav>
  )
}
