import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { Logo } from '../../parts/icon.tsx'
import { ThemeSwitch } from '../../parts/theme-switch.tsx'
import { product } from '../../texts.ts'

/** The page before sign-in: one card in the middle. */
export function Gate({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  useEffect(() => {
    document.title = `${title} · ${product}`
  }, [title])
  return (
    <main class="gate">
      <div class="gate-card">
        <p class="product">
          <Logo />
          {product}
        </p>
        <div class="card">
          <h1>{title}</h1>
          {children}
        </div>
        <ThemeSwitch />
      </div>
    </main>
  )
}
