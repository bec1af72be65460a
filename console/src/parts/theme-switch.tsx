import { useState } from 'preact/hooks'
import { themeTexts } from './texts.ts'
import { Icon } from './icon.tsx'

const themes = ['system', 'light', 'dark'] as const
type Theme = (typeof themes)[number]

/** theme.ts reads it before the first paint. */
const STORED = 'tollgate-theme'

/** Light, dark, or as the system. Kept in this browser. */
export function ThemeSwitch() {
  const [theme, setTheme] = useState(storedTheme)
  const choose = (chosen: Theme) => {
    setTheme(chosen)
    apply(chosen)
  }
  return (
    <div class="theme-switch" role="group" aria-label={themeTexts.label}>
      {themes.map(name => (
        <button
          key={name}
          type="button"
          aria-pressed={theme === name}
          aria-label={themeTexts[name]}
          title={themeTexts[name]}
          onClick={() => choose(name)}
        >
          <Icon name={name} />
        </button>
      ))}
    </div>
  )
}

function storedTheme(): Theme {
  const shown = document.documentElement.dataset['theme']
  return themes.find(name => name === shown) ?? 'system'
}

function apply(theme: Theme): void {
  const { dataset } = document.documentElement
  if (theme === 'system') delete dataset['theme']
  else dataset['theme'] = theme
  try {
    if (theme === 'system') localStorage.removeItem(STORED)
    else localStorage.setItem(STORED, theme)
  } catch {
    // Without storage, the choice lasts until the page is loaded again.
  }
}
